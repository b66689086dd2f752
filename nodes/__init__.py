"""The system under test: transport nodes that keep a second copy of every message.

`nodes.core` decides, `nodes.store` keeps, `nodes.shell` acts. Imports go shell -> store -> core.
"""
