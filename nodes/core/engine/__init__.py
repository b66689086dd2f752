"""One input at a time: its door, moment, effects so far, pending answers, timers; rows to log."""
