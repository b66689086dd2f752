"""The file that a person writes, as strict models: its shape alone; nothing is looked up."""
