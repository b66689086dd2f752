"""Spark as this program uses it: its JVM, what a user has set, and the sources of its workers."""
