"""Where mail goes next, in which forks, and who is inside the high availability boundary."""
