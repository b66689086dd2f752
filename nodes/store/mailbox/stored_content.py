"""What a copy of a mailbox database has stored, in a few bytes: two copies that took in the same
logs say the same, whatever rows they keep it in (TP-4).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from hashlib import sha256

from nodes.store.message_digest import DIGITS

_STORED = (
    "SELECT m.message_id, m.submitted_ms, m.sender, "
    "(SELECT json_group_array(json_array(address, delivered_ms)) FROM "
    "(SELECT address, delivered_ms FROM copies JOIN mailboxes USING (mailbox_id) "
    "WHERE message_row = m.message_row ORDER BY 1, 2)), m.content FROM messages AS m"
)


@dataclass(frozen=True, slots=True)
class StoredContent:
    """`messages` are counted once, however many mailboxes show them; `sha256` has the first 16
    hexadecimal digits, as other digests of a record.
    """

    messages: int
    sha256: str


def stored_content(db: sqlite3.Connection) -> StoredContent:
    """Of all messages, who sent each, and the mailboxes that show it since when.

    Raises sqlite3.Error.
    """
    each = sorted(_digest(*row) for row in db.execute(_STORED))
    return StoredContent(len(each), sha256(b"".join(each)).hexdigest()[:DIGITS])


def _digest(
    message_id: str, submitted_ms: int | None, sender: str, shown: str, content: bytes
) -> bytes:
    said = sha256(f"{message_id}\n{submitted_ms}\n{sender}\n{shown}\n".encode())
    said.update(content)
    return said.digest()
