"""DSNs and journal reports: which there are to be, and which servers made."""
