"""Claims about mail that servers make themselves: DSNs and journal reports."""
