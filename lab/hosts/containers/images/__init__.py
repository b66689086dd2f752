"""The images of a lab: pulled, or built from packages."""
