"""Claims about servers and sessions themselves, and about whether a row is there at all."""
