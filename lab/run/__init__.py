"""One run to its verdict, on containers or on the simulator; and runs that ended."""
