"""Measurements that a person asks for with `make bench`; no test depends on them.

Each module here with a function `measure() -> Result` is one. To add one, add a file.
"""
