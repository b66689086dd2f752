"""Where a mailbox that moved was when, and what follows for its mail and for Safety Nets."""
