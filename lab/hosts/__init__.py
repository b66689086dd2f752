"""Where a plan is carried out."""
