"""The queue database: messages, forks, shadows, Safety Net, requests."""
