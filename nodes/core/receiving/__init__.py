"""What clients say to a server, and what becomes of the mail that it takes."""
