"""The simulator as a host: the nodes of a plan in virtual time, in one thread."""
