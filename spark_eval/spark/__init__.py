"""Spark as this program uses it: its JVM, settings, partitions and memory."""
