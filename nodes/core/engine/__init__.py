"""One input at a time: its moment, the effects so far, pending answers, timers; rows to log."""
