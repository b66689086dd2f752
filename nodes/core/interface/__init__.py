"""What passes the core's one door: inputs, effects, changes and replies."""
