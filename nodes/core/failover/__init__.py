"""What Active Manager watches, decides and does."""
