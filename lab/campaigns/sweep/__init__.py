"""Many seeds of one scenario, simulated on Spark's executors and judged batch by batch."""
