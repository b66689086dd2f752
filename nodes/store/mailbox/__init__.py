"""Mailbox databases, their copies and logs."""
