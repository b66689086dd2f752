"""Every mistake of a file, at its line, before anything is started."""
