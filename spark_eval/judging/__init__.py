"""From histories and claims to cases, from cases to results, from results to a verdict."""
