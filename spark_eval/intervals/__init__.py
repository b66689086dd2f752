"""Three-valued time: what surely was, what may have been, and what surely was not. Pure."""
