"""The tables and files that an evaluation leaves."""
