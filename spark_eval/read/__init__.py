"""From the files of a run folder to typed tables; judges nothing."""
