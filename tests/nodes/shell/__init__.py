"""Tests of what a node does around its core."""
