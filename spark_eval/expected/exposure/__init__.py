"""Who could still have given a message back, all along, and while that was fewer than two."""
