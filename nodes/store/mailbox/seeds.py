"""A seed: everything in a mailbox database, for a copy that cannot be helped by logs.

Made in one read and taken in within one transaction, so it is whole or not at all. It is one
message on the way, so a database larger than a message may be cannot be seeded; the copy then stays
behind, and says so.
"""

from __future__ import annotations

import sqlite3
from typing import Any, TypeAlias

from nodes.store.mailbox.log_content import bytes_text, from_content, text_bytes, to_content

Table: TypeAlias = list[list[Any]]

KIND = "seed"
_META = "created_ms, last_log, last_log_epoch, last_log_ms"
_WITH_CONTENT = ("messages", "outbox")
LOAD_META = f"SELECT {_META} FROM meta"
SET_META = f"UPDATE meta SET ({_META}, state) = (?, ?, ?, ?, 'passive')"
_TABLES = (
    ("mailboxes", "mailbox_id, address", 2),
    (
        "messages",
        "message_row, message_id, submitted_ms, subject, sender, size_bytes, content",
        7,
    ),
    ("copies", "mailbox_id, message_row, delivered_ms", 3),
    ("delivered_to", "mailbox_id, message_id, submitted_ms, delivered_ms", 4),
    (
        "outbox",
        "item_id, message_id, submitted_ms, subject, sender, recipients, size_bytes, hops, content",
        9,
    ),
    ("branches", "epoch, after_log", 2),
)


def make(db: sqlite3.Connection) -> bytes:
    """The database as it is now. The caller sees to it that nobody writes meanwhile."""
    record = {name: _rows(db, name, columns) for name, columns, _ in _TABLES}
    meta = list(db.execute(LOAD_META).fetchone())
    return to_content({"kind": KIND, "meta": meta, **record})


def replant(db: sqlite3.Connection, content: bytes) -> None:
    """The seed in place of everything, in the transaction that the caller has begun. Raises
    Unreadable.
    """
    record = from_content(content, KIND)
    db.execute("DELETE FROM logs")
    for name, columns, width in _TABLES:
        db.execute(f"DELETE FROM {name}")
        rows = [_with_content(name, row) for row in record[name]]
        marks = ", ".join("?" * width)
        db.executemany(f"INSERT INTO {name} ({columns}) VALUES ({marks})", rows)
    db.execute(SET_META, record["meta"])


def _rows(db: sqlite3.Connection, name: str, columns: str) -> Table:
    rows = db.execute(f"SELECT {columns} FROM {name} ORDER BY 1, 2")
    return [[bytes_text(v) if isinstance(v, bytes) else v for v in row] for row in rows]


def _with_content(name: str, row: list[Any]) -> list[Any]:
    return [*row[:-1], text_bytes(row[-1])] if name in _WITH_CONTENT else row
