"""Databases and bodies on disk, behind threads."""
