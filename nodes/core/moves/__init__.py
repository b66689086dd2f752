"""What an administrator has moved to another server: mailboxes, and messages that wait."""
