"""Mailbox Transport Submission: from the Outbox of a mailbox to a Transport service."""
