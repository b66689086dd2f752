"""Claims about where mail goes."""
