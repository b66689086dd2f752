"""What every run is checked against, a claim a file."""
