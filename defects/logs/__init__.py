"""Defects of what a server logs, while it does all else as it should (TL)."""
