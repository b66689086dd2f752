"""What a claim says of one thing that it asks: a case, in words."""
