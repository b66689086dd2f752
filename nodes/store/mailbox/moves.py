"""All that a mailbox shows, on its way from one mailbox database to another, and the record by
which the other copies of that one have the same (SN-8, DD-3).

It comes in place of whatever the mailbox showed there, so it may come twice. DeliveredTo of either
database stays as it is.
"""

from __future__ import annotations

import sqlite3

from nodes.store.mailbox.delivered import ADD_COPY, ADD_MESSAGE, mailbox_id
from nodes.store.mailbox.log_content import LogRecord, bytes_text, text_bytes, to_content

KIND = "mailbox"

_MESSAGE = "message_id, submitted_ms, subject, sender, size_bytes, content"
SHOWN = (
    f"SELECT {_MESSAGE}, delivered_ms FROM copies JOIN messages USING (message_row) "
    "JOIN mailboxes USING (mailbox_id) WHERE address = ? ORDER BY message_row"
)
EMPTY_MAILBOX = "DELETE FROM copies WHERE mailbox_id = ?"


def export(db: sqlite3.Connection, address: str) -> bytes:
    """As it is now, each message once."""
    rows = db.execute(SHOWN, (address,))
    shown = [[*row, bytes_text(content), at_ms] for *row, content, at_ms in rows]
    return to_content({"kind": KIND, "address": address, "shown": shown})


def take_in(db: sqlite3.Connection, record: LogRecord) -> None:
    """In the transaction that the caller has begun."""
    box = mailbox_id(db, record["address"])
    db.execute(EMPTY_MAILBOX, (box,))
    for *row, content, delivered_ms in record["shown"]:
        stored = db.execute(ADD_MESSAGE, (*row, text_bytes(content))).lastrowid
        db.execute(ADD_COPY, (box, stored, delivered_ms))
