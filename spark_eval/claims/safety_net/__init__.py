"""Claims about Safety Nets, and about copies of mailbox databases."""
