"""`make reach`: which branches of the node no run takes.

Every scenario, and seeds of each whose faults are drawn, are simulated with branch coverage of
`nodes/core` and `nodes/store` alone; no unit test counts. What no run takes is a place where a
mistake would be seen by nobody: it gets a scenario, a draw, or a sentence why in `unreached.toml`.
"""
