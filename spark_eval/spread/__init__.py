"""The judge, spread by Spark: each run whole in one task."""
