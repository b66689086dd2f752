"""What should have happened, derived from plan, ledger and faults, as intervals."""
