"""From claims to a verdict."""
