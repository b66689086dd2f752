"""Copies of mailbox databases, and the shipping of their logs."""
