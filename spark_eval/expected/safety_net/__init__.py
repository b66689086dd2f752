"""What a failover should do, and what a Safety Net resubmits."""
