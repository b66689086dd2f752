"""What every program of the lab has: errors, an outer edge, text and JSON of others read safely."""
