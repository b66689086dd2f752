"""What a transport node keeps: its queue database and its mailbox databases, both SQLite."""
