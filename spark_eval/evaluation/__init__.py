"""One evaluation from folders to verdicts, and what the program does on a Spark session."""
