"""Every single fault of a small scenario, and pairs of them."""
