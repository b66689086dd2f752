"""Defects of shadow redundancy when a message comes in."""
