"""Claims about shadow redundancy."""
