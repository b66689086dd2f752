"""What an observer sees of a lab that runs, and so whether a fault took effect."""
