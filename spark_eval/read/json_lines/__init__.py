"""JSON Lines of a record. A reader takes one object, raises `Malformed` where it does not say what
its kind must say, and adds a row otherwise.
"""
