"""Claims about mail as its senders and recipients see it."""
