"""From a scenario, a topology and a seed to a plan: every default written out, every draw made."""
