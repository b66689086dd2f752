"""`shadowlab`: what a person or a script asks of the lab."""
