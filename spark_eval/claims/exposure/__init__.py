"""What is asked of how many servers had a message."""
