"""Who is there, what is set, and what became of servers and mailbox databases."""
