"""What a run is to do, as frozen values: the parts of plan.json."""
