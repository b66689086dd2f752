"""Values that are stored; each state machine beside the states that it knows."""
