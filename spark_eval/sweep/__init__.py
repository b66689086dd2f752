"""Many seeds of one scenario, judged batch by batch from one table of lines; one verdict of all."""
