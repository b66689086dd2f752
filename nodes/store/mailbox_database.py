"""A mailbox database: one SQLite file with its mailboxes, the messages they show, and the
DeliveredTo table (DD-1, DD-3).

A delivery is one durable transaction. A message that a mailbox was given before, by the same
Message-Id and client submit time within the window, is turfed. A message without Message-Id has no
key and is never a duplicate. A damaged file is not replaced: deliveries fail with its reason until
somebody mends it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from nodes.core.effects import DeliverToMailboxes
from nodes.core.inputs import MailboxesDelivered
from nodes.store import sqlite_file
from nodes.store.sqlite_file import transaction

KIND = "mailbox"
NO_DATE = -1

ADD_MAILBOX = "INSERT OR IGNORE INTO mailboxes (address) VALUES (?)"
FIND_MAILBOX = "SELECT mailbox_id FROM mailboxes WHERE address = ?"
# an entry older than the window counts as gone, even before anybody cleans up (DD-2)
FIND_DELIVERED = (
    "SELECT 1 FROM delivered_to "
    "WHERE mailbox_id = ? AND message_id = ? AND submitted_ms = ? AND delivered_ms >= ?"
)
NOTE_DELIVERED = (
    "INSERT OR REPLACE INTO delivered_to (mailbox_id, message_id, submitted_ms, delivered_ms) "
    "VALUES (?, ?, ?, ?)"
)
ADD_MESSAGE = (
    "INSERT INTO messages (message_id, submitted_ms, subject, sender, size_bytes, content) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
ADD_COPY = "INSERT INTO copies (mailbox_id, message_row, delivered_ms) VALUES (?, ?, ?)"


def mailbox_file(folder: Path, database: str) -> Path:
    """Where the mailbox database of that name is kept."""
    return folder / f"mailbox-{database}.db"


class MailboxDatabase:
    """An open mailbox database. Not for two threads at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, folder: Path, database: str, server: str) -> MailboxDatabase:
        """Open the file, or make it. Raises sqlite3.Error, OSError."""
        path = mailbox_file(folder, database)
        if not path.exists():
            sqlite_file.create(path, KIND, _meta_row(database, server))
        connection = sqlite_file.connect(path)
        sqlite_file.migrate(connection, KIND)
        return cls(connection)

    @classmethod
    def in_memory(cls, database: str, server: str) -> MailboxDatabase:
        """A new mailbox database without a file."""
        return cls(sqlite_file.in_memory(KIND, _meta_row(database, server)))

    @property
    def connection(self) -> sqlite3.Connection:
        """For whoever dumps it."""
        return self._connection

    def limit_growth(self, is_full: bool) -> None:
        """Stand on a full disk, or on one with room again."""
        sqlite_file.limit_growth(self._connection, is_full)

    def deliver(self, asked: DeliverToMailboxes, content: bytes) -> MailboxesDelivered:
        """Store the message once for each recipient who has not got it. Raises sqlite3.Error; then
        nothing happened.
        """
        with transaction(self._connection):
            boxes = {address: self._mailbox(address) for address in asked.recipients}
            duplicates = tuple(a for a in asked.recipients if self._has(boxes[a], asked))
            delivered = tuple(a for a in asked.recipients if a not in set(duplicates))
            if delivered:
                self._store(tuple(dict.fromkeys(boxes[a] for a in delivered)), asked, content)
        return MailboxesDelivered(asked.delivery, delivered, duplicates)

    def _mailbox(self, address: str) -> int:
        row = (address.lower(),)
        self._connection.execute(ADD_MAILBOX, row)
        return int(self._connection.execute(FIND_MAILBOX, row).fetchone()[0])

    def _has(self, mailbox_id: int, asked: DeliverToMailboxes) -> bool:
        if not asked.header.message_id:
            return False
        row = (mailbox_id, *_key(asked), asked.now_ms - asked.window_ms)
        return self._connection.execute(FIND_DELIVERED, row).fetchone() is not None

    def _store(self, boxes: tuple[int, ...], asked: DeliverToMailboxes, content: bytes) -> None:
        header = asked.header
        row = (header.message_id, header.submitted_ms, header.subject, asked.sender)
        stored = self._connection.execute(ADD_MESSAGE, (*row, asked.size_bytes, content)).lastrowid
        copies = [(box, stored, asked.now_ms) for box in boxes]
        self._connection.executemany(ADD_COPY, copies)
        if header.message_id:
            noted = [(box, *_key(asked), asked.now_ms) for box in boxes]
            self._connection.executemany(NOTE_DELIVERED, noted)

    def close(self) -> None:
        self._connection.close()


def _meta_row(database: str, server: str) -> sqlite_file.Fill:
    row = (1, database, server)
    return lambda connection: connection.execute("INSERT INTO meta VALUES (?, ?, ?)", row)


def _key(asked: DeliverToMailboxes) -> tuple[str, int]:
    submitted_ms = asked.header.submitted_ms
    return asked.header.message_id, NO_DATE if submitted_ms is None else submitted_ms
