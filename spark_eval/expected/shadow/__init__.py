"""What should become of shadow messages: made, let go, promoted, kept."""
