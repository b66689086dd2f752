"""The catalogue of defects, and whether the right claim notices each."""
