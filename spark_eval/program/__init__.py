"""What every program of the evaluation has: an outer edge, exit codes, a session that serves."""
