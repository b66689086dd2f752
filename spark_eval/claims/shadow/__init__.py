"""Claims about shadow messages: made, kept, let go, promoted."""
