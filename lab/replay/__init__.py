"""A run, or one node of it, once more."""
