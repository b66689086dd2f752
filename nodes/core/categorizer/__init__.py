"""From the recipients of an envelope to those who get the message, and the ways to them (RT-7)."""
