"""Defects of delivery: mail that is lost, doubled, altered, or tried too soon."""
