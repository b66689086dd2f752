"""A message that arrives in mailboxes of a database: stored once, shown in each, noted in
DeliveredTo (DD-1); and the same as a log's record, so that a passive copy stores it alike (DD-3).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from nodes.core.model.message import Header
from nodes.store.mailbox.log_content import LogRecord, bytes_text, text_bytes

NO_DATE = -1
KIND = "delivery"

ADD_MAILBOX = "INSERT OR IGNORE INTO mailboxes (address) VALUES (?)"
FIND_MAILBOX = "SELECT mailbox_id FROM mailboxes WHERE address = ?"
NOTE_DELIVERED = (
    "INSERT OR REPLACE INTO delivered_to (mailbox_id, message_id, submitted_ms, delivered_ms) "
    "VALUES (?, ?, ?, ?)"
)
ADD_MESSAGE = (
    "INSERT INTO messages (message_id, submitted_ms, subject, sender, size_bytes, content) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
ADD_COPY = "INSERT INTO copies (mailbox_id, message_row, delivered_ms) VALUES (?, ?, ?)"
FORGET = (
    "DELETE FROM delivered_to WHERE (mailbox_id, message_id, submitted_ms) IN "
    "(SELECT mailbox_id, message_id, submitted_ms FROM delivered_to "
    "WHERE delivered_ms < ? ORDER BY delivered_ms LIMIT ?)"
)
COUNT = "SELECT count(*) FROM delivered_to"


@dataclass(frozen=True, slots=True)
class Arrival:
    """`mailboxes` are addresses, each once."""

    mailboxes: tuple[str, ...]
    header: Header
    sender: str
    size_bytes: int
    delivered_ms: int
    content: bytes


def mailbox_id(db: sqlite3.Connection, address: str) -> int:
    row = (address.lower(),)
    db.execute(ADD_MAILBOX, row)
    return int(db.execute(FIND_MAILBOX, row).fetchone()[0])


def key_of(header: Header) -> tuple[str, int]:
    """What a duplicate is known by (DD-1)."""
    submitted_ms = header.submitted_ms
    return header.message_id, NO_DATE if submitted_ms is None else submitted_ms


def store(db: sqlite3.Connection, arrival: Arrival) -> None:
    """In the transaction that the caller has begun."""
    header, at_ms = arrival.header, arrival.delivered_ms
    boxes = [mailbox_id(db, address) for address in arrival.mailboxes]
    row = (header.message_id, header.submitted_ms, header.subject, arrival.sender)
    stored = db.execute(ADD_MESSAGE, (*row, arrival.size_bytes, arrival.content)).lastrowid
    db.executemany(ADD_COPY, [(box, stored, at_ms) for box in boxes])
    if header.message_id:
        db.executemany(NOTE_DELIVERED, [(box, *key_of(header), at_ms) for box in boxes])


def forget(db: sqlite3.Connection, before_ms: int, most: int) -> tuple[int, int]:
    """Remove at most so many entries from before that; how many went, and how many are left."""
    removed = db.execute(FORGET, (before_ms, most)).rowcount
    return removed, int(db.execute(COUNT).fetchone()[0])


def to_record(arrival: Arrival) -> LogRecord:
    header = arrival.header
    return {
        "kind": KIND,
        "mailboxes": list(arrival.mailboxes),
        "message_id": header.message_id,
        "submitted_ms": header.submitted_ms,
        "subject": header.subject,
        "sender": arrival.sender,
        "size_bytes": arrival.size_bytes,
        "delivered_ms": arrival.delivered_ms,
        "content": bytes_text(arrival.content),
    }


def from_record(record: LogRecord) -> Arrival:
    return Arrival(
        tuple(record["mailboxes"]),
        Header(record["message_id"], record["submitted_ms"], record["subject"]),
        record["sender"],
        record["size_bytes"],
        record["delivered_ms"],
        text_bytes(record["content"]),
    )
