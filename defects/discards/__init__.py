"""Defects of discard notifications, from the side of primary and of shadow servers (SM)."""
