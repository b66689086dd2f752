"""Pieces of Spark SQL that several derivations need."""
