"""From a run that fails to the smallest scenario that still fails in the same way."""
