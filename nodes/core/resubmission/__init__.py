"""Requests to a Safety Net, and the mail that comes back."""
