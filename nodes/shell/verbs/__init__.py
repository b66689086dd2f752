"""The verbs that servers of an organisation say to each other."""
