"""Nodes that break one promise each, so that the lab can prove that it would notice.

A defect is a wrapper round what has a public name: the door of a core, the store, the settings, or
a decision of the core. Nothing inside a node knows of it, and no private name is touched, so the
catalogue outlives any change of what is inside.
"""
