"""Octets that strangers chose, as text that shows each one: what is a key stays that key wherever
text goes.

Printable ASCII stands for itself; a blank, a backslash and every other octet is `\\xNN`. So no two
strings of octets are shown alike, and a log, a reply, a line of JSON or a column has nothing to
mend in the text.
"""

from __future__ import annotations

_ESCAPES = {
    octet: f"\\x{octet:02x}"
    for octet in range(256)
    if not ord("!") <= octet <= ord("~") or octet == ord("\\")
}


def shown(octets: bytes) -> str:
    return octets.decode("latin-1").translate(_ESCAPES)


def count_of(text: str) -> int:
    """How many octets are shown."""
    return len(text) - (len(r"\xNN") - 1) * text.count("\\")


def is_plain(text: str) -> bool:
    """Whether the text is what it shows: printable ASCII without blanks and backslashes."""
    return "\\" not in text
