"""Queues, retries, DSNs and expiry; discard notifications; what a Safety Net keeps."""
