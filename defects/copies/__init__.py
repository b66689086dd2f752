"""Defects of mailbox databases of several copies: failovers, and logs that make copies equal."""
