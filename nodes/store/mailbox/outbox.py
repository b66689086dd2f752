"""The Outbox of a mailbox database: items of its users that Transport has not acknowledged yet, and
the records by which other copies have the same (SR-8, TP-4).
"""

from __future__ import annotations

import json
import sqlite3

from nodes.core.model.message import Envelope, Header
from nodes.core.model.outbox import OutboxItem
from nodes.store.mailbox.log_content import LogRecord, bytes_text, text_bytes

SUBMISSION = "submission"
SUBMITTED = "submitted"

_HEADER = "message_id, submitted_ms, subject, sender, recipients, size_bytes, hops"
ADD_ITEM = f"INSERT INTO outbox (item_id, {_HEADER}, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
REMOVE_ITEM = "DELETE FROM outbox WHERE item_id = ?"
LOAD_ITEMS = f"SELECT item_id, {_HEADER} FROM outbox ORDER BY rowid"
READ_ITEM = "SELECT content FROM outbox WHERE item_id = ?"


def add(db: sqlite3.Connection, item: OutboxItem, content: bytes) -> None:
    """In the transaction that the caller has begun, as is `remove`."""
    header, envelope = item.header, item.envelope
    row = (item.item_id, header.message_id, header.submitted_ms, header.subject, envelope.sender)
    recipients = json.dumps(envelope.recipients)
    db.execute(ADD_ITEM, (*row, recipients, item.size_bytes, item.hops, content))


def remove(db: sqlite3.Connection, item_id: str) -> bool:
    """Whether it was there."""
    return db.execute(REMOVE_ITEM, (item_id,)).rowcount == 1


def items(db: sqlite3.Connection) -> tuple[OutboxItem, ...]:
    """All, in the order in which they came."""
    return tuple(_item(*row) for row in db.execute(LOAD_ITEMS))


def read_content(db: sqlite3.Connection, item_id: str) -> bytes | None:
    row = db.execute(READ_ITEM, (item_id,)).fetchone()
    return None if row is None else bytes(row[0])


def _item(
    item_id: str,
    message_id: str,
    submitted_ms: int | None,
    subject: str,
    sender: str,
    recipients: str,
    size_bytes: int,
    hops: int,
) -> OutboxItem:
    header = Header(message_id, submitted_ms, subject)
    return OutboxItem(
        item_id, header, Envelope(sender, tuple(json.loads(recipients))), size_bytes, hops
    )


def to_record(item: OutboxItem, content: bytes) -> LogRecord:
    return {
        "kind": SUBMISSION,
        "item_id": item.item_id,
        "message_id": item.header.message_id,
        "submitted_ms": item.header.submitted_ms,
        "subject": item.header.subject,
        "sender": item.envelope.sender,
        "recipients": list(item.envelope.recipients),
        "size_bytes": item.size_bytes,
        "hops": item.hops,
        "content": bytes_text(content),
    }


def take_in(db: sqlite3.Connection, record: LogRecord) -> None:
    """What a log of either kind says happens here too."""
    if record["kind"] == SUBMITTED:
        remove(db, record["item_id"])
        return
    header = Header(record["message_id"], record["submitted_ms"], record["subject"])
    envelope = Envelope(record["sender"], tuple(record["recipients"]))
    item = OutboxItem(record["item_id"], header, envelope, record["size_bytes"], record["hops"])
    add(db, item, text_bytes(record["content"]))


def removed_record(item_id: str) -> LogRecord:
    return {"kind": SUBMITTED, "item_id": item_id}
