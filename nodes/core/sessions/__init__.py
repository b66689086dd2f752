"""SMTP sessions, inbound and outbound, and the tables of what may follow what."""
