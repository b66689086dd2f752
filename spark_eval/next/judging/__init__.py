"""From cases to results, and from results to a verdict."""
