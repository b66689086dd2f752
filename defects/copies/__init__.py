"""Defects of mailbox databases of several copies: failovers, logs, what Safety Nets are asked."""
