"""A mailbox as Active Directory has it: its address, the mailbox database that it is in, and, while
it moves, the one that it is on its way to.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.document import Json, text, text_if_any

MAILBOXES = "Mailboxes"


@dataclass(frozen=True, slots=True)
class Mailbox:
    """`address` is in lower case. While it moves nothing is delivered into it."""

    address: str
    database: str
    moves_to: str | None = None


def mailbox_of(entry: Json) -> Mailbox:
    """Of an entry of MAILBOXES. Raises ConfigurationError."""
    moves_to = text_if_any(entry, "MovesTo")
    return Mailbox(text(entry, "Address").lower(), text(entry, "Database"), moves_to)
