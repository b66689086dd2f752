"""What should have happened, derived from plan, ledger and fault record, as intervals."""
