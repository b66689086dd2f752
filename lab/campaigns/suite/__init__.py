"""The nightly suite: every scenario, one run at a time, going on where it was interrupted."""
