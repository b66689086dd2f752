"""What the lab may do to a node from outside: breakpoints, a full disk, a wrong clock."""
