"""When faults and operations begin and end, and the journal of what was intended and seen."""
