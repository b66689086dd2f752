"""What a server does by itself: its lives, its disk, its probes."""
