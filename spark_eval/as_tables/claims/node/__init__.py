"""Claims about nodes as programs."""
