"""A lab that stands, to work at: mail that goes on, faults and operations by hand, and a verdict of
what was done.
"""
