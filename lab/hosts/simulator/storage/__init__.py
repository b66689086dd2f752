"""The disk of a simulated server: written, durable, and what a power loss leaves."""
