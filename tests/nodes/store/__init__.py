"""Tests of what a node keeps."""
