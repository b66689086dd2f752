"""The judge of runs that are too much for one task: tables of Spark, derived and asked in SQL."""
