"""A mailbox database: one SQLite file with its mailboxes, the messages they show, and the
DeliveredTo table (DD-1, DD-3).

A delivery is one durable transaction. A message that a mailbox was given before, by the same
Message-Id and client submit time within the window, is turfed. A message without Message-Id has no
key and is never a duplicate. Where there are other copies of the database, the log for them is
written in the same transaction (TP-4), and a copy that is not active takes nothing. A damaged file
is not replaced: deliveries fail with its reason until somebody mends it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from nodes.core.interface.copy_changes import ReadOutbox
from nodes.core.interface.effects import ChangeCopy, CleanUpDeliveredTo, DeliverToMailboxes
from nodes.core.interface.inputs import (
    CopyChanged,
    CopyNotChanged,
    DeliveredToCleanedUp,
    MailboxDeliveryFailed,
    MailboxesDelivered,
)
from nodes.core.model.message import BodyHandle
from nodes.core.model.outbox import OUTBOX
from nodes.store import sqlite_file
from nodes.store.mailbox import delivered as arrivals
from nodes.store.mailbox import moves, outbox, seeds
from nodes.store.mailbox.delivered import Arrival, key_of, mailbox_id
from nodes.store.mailbox.log_content import Unreadable
from nodes.store.mailbox.mailbox_copy import (
    NotActive,
    apply_change,
    read_log,
    standing_of,
    takes_mail,
    write_log,
)
from nodes.store.queue.changes import FetchBody
from nodes.store.sqlite_file import transaction

KIND = "mailbox"

# an entry older than the window counts as gone, even before anybody cleans up (DD-2)
FIND_DELIVERED = (
    "SELECT 1 FROM delivered_to "
    "WHERE mailbox_id = ? AND message_id = ? AND submitted_ms = ? AND delivered_ms >= ?"
)


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
        if wrong := sqlite_file.other_version(connection, KIND):
            connection.close()
            raise sqlite3.DatabaseError(wrong)
        return cls(connection)

    @classmethod
    def to_read(cls, folder: Path, database: str) -> MailboxDatabase:
        """A second connection to a file that is open, for reading beside the writer. Raises
        sqlite3.Error.
        """
        return cls(sqlite_file.connect(mailbox_file(folder, database)))

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

    def deliver(
        self, asked: DeliverToMailboxes, content: bytes
    ) -> MailboxesDelivered | MailboxDeliveryFailed:
        """Store the message once for each recipient who has not got it. Raises sqlite3.Error; then
        nothing happened.
        """
        with transaction(self._connection):
            try:
                writes_log = takes_mail(self._connection)
            except NotActive as error:
                return MailboxDeliveryFailed(asked.delivery, str(error))
            return self._deliver(asked, content, writes_log=writes_log)

    def _deliver(
        self, asked: DeliverToMailboxes, content: bytes, *, writes_log: bool
    ) -> MailboxesDelivered:
        db = self._connection
        duplicates = tuple(a for a in asked.recipients if self._has(mailbox_id(db, a), asked))
        delivered = tuple(a for a in asked.recipients if a not in set(duplicates))
        log = None
        if delivered:
            arrival = _arrival(asked, delivered, content)
            arrivals.store(db, arrival)
            if writes_log:
                log = write_log(db, arrivals.to_record(arrival), asked.now_ms)
        return MailboxesDelivered(asked.delivery, delivered, duplicates, log)

    def _has(self, mailbox: int, asked: DeliverToMailboxes) -> bool:
        if not asked.header.message_id:
            return False
        row = (mailbox, *key_of(asked.header), asked.now_ms - asked.window_ms)
        return self._connection.execute(FIND_DELIVERED, row).fetchone() is not None

    def clean_up(self, asked: CleanUpDeliveredTo) -> DeliveredToCleanedUp:
        """Of this copy alone: what is gone by its age is gone in each, so no log says it. Raises
        sqlite3.Error.
        """
        with transaction(self._connection):
            removed, left = arrivals.forget(self._connection, asked.before_ms, asked.most)
        return DeliveredToCleanedUp(asked.database, removed, left, more=removed == asked.most)

    def change(self, asked: ChangeCopy, fetch: FetchBody) -> CopyChanged | CopyNotChanged:
        """One durable change of this copy. Raises StateMismatch for our mistakes; what the world
        does wrong is in the answer.
        """
        try:
            with transaction(self._connection):
                logs = apply_change(self._connection, asked.what, fetch)
            items = outbox.items(self._connection) if isinstance(asked.what, ReadOutbox) else ()
            return CopyChanged(asked.change, standing_of(self._connection), logs, items)
        except (sqlite3.Error, Unreadable, NotActive) as error:
            return CopyNotChanged(asked.change, str(error))

    def read_log(self, number: int) -> bytes | None:
        """Content of a log; None where it is not kept any more."""
        return read_log(self._connection, number)

    def seed(self) -> bytes:
        """Everything, as it is in one moment, for a copy that cannot be helped by logs."""
        self._connection.execute("BEGIN")
        try:
            return seeds.make(self._connection)
        finally:
            self._connection.execute("ROLLBACK")

    def read(self, handle: BodyHandle) -> bytes | None:
        """What `log:<name>:<number>`, `seed:<name>`, `mailbox:<name>:<address>` or
        `outbox:<name>:<item>` stands for.
        """
        kind, _, *named = handle.split(":", 2)
        if kind == OUTBOX:
            return outbox.read_content(self._connection, named[0])
        if kind == moves.KIND:
            return moves.export(self._connection, named[0])
        return self.seed() if kind == "seed" else self.read_log(int(named[0]))

    def close(self) -> None:
        self._connection.close()


def _meta_row(database: str, server: str) -> sqlite_file.Fill:
    row = (1, database, server)
    insert = "INSERT INTO meta (only_row, name, server) VALUES (?, ?, ?)"
    return lambda connection: connection.execute(insert, row)


def _arrival(asked: DeliverToMailboxes, delivered: tuple[str, ...], content: bytes) -> Arrival:
    """One copy a mailbox, however its address is written."""
    mailboxes = tuple(dict.fromkeys(address.lower() for address in delivered))
    return Arrival(mailboxes, asked.header, asked.sender, asked.size_bytes, asked.now_ms, content)
