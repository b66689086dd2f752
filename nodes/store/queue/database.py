"""The queue database of a node: opened with everything the core must know, changed in durable
transactions.

One writer: the thread that calls `commit` and `expire_safety_net`. A group of commits shares one
transaction and one sync of the disk; where the group fails, each is tried alone, so that one bad
commit fails no other. A damaged file is renamed and reported, and a new one gets a new id; it is
never replaced in silence (design decision 6). This part decides nothing: what a change means is the
core's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

from nodes.core.interface.effects import Commit, ReadSafetyNet
from nodes.core.interface.inputs import (
    CommitFailed,
    Committed,
    CopiesCounted,
    DatabaseOpened,
    DatabaseSetAside,
    ExpiredCopy,
    SafetyNetExpired,
    SafetyNetNotRead,
    SafetyNetRead,
)
from nodes.core.interface.manager_changes import ManagerChange
from nodes.core.interface.queue_changes import Change
from nodes.core.model.message import ActiveCopy
from nodes.store import sqlite_file
from nodes.store.queue.bodies import read_body, release_bodies
from nodes.store.queue.changes import BodyGone, FetchBody, StateMismatch, apply_changes
from nodes.store.queue.forks import DELETE_FORKS
from nodes.store.queue.resubmit_requests import LOAD_HEADS, LOAD_REQUESTS, requests_of
from nodes.store.queue.rows import (
    FORK_COLUMNS,
    MESSAGE_COLUMNS,
    SHADOW_COLUMNS,
    contact_of,
    discard_of,
    messages_of,
    shadow_of,
)
from nodes.store.queue.safety_net import read_safety_net
from nodes.store.sqlite_file import transaction

Halfway: TypeAlias = Callable[[], None]

KIND = "queue"
EXPIRE_AGAIN_MS = 60_000

LOAD_MESSAGES = (
    f"SELECT {MESSAGE_COLUMNS}, delay_notified, promoted FROM messages ORDER BY internal_id"
)
# CROSS JOIN keeps the order of the loops: only forks of messages in a delivery queue are looked up
LOAD_FORKS = (
    f"SELECT {', '.join('f.' + column for column in FORK_COLUMNS.split(', '))} "
    "FROM messages AS m CROSS JOIN forks AS f ON f.internal_id = m.internal_id "
    "ORDER BY m.internal_id, f.position"
)
LOAD_SHADOWS = f"SELECT {SHADOW_COLUMNS} FROM shadows ORDER BY internal_id"
LOAD_DISCARDS = (
    "SELECT shadow_server, sequence, internal_id, delivered_ms, first_delivered_ms FROM discards "
    "ORDER BY shadow_server, sequence"
)
LOAD_DISCARDS_ASKED = "SELECT shadow_server, asked_ms FROM discards_asked ORDER BY shadow_server"
LOAD_CONTACTS = (
    "SELECT primary_server, database_id, last_contact_ms, confirmed_sequence, held_up_to "
    "FROM contacts ORDER BY primary_server"
)
LOAD_ACTIVE_COPIES = (
    "SELECT database, server, epoch, learnt_ms FROM active_copies ORDER BY database"
)
LOAD_META = "SELECT database_id, created_ms, starts, last_discard_sequence FROM meta"
COUNT_START = "UPDATE meta SET starts = starts + 1"

# where copies expire: the table, and the name of the queue as everybody else says it
EXPIRING = (
    ("primary_safety_net", "primary-safety-net"),
    ("shadow_safety_net", "shadow-safety-net"),
    ("shadows", "shadow"),
)


def find_expired(table: str) -> str:
    return (
        f"SELECT internal_id, message_id, network_message_id, body_id FROM {table} "
        "WHERE expires_ms <= ? ORDER BY expires_ms"
    )


def delete_expired(table: str) -> str:
    return f"DELETE FROM {table} WHERE expires_ms <= ?"


def earliest_expiry(table: str) -> str:
    return f"SELECT min(expires_ms) FROM {table}"


@dataclass(frozen=True, slots=True)
class Opening:
    """What there is to report to the core about the file: a damage comes first, the rows last."""

    database: QueueDatabase
    set_aside: DatabaseSetAside | None
    opened: DatabaseOpened


def open_queue_database(path: Path, now_ms: int, new_database_id: Callable[[], str]) -> Opening:
    """Open the file, or make it. Raises sqlite3.Error or OSError where the place itself is of no
    use.
    """
    reason = sqlite_file.distrust(path, KIND)
    aside = None
    if reason is not None:
        renamed = sqlite_file.set_aside(path, sqlite_file.date_of(now_ms))
        aside = DatabaseSetAside(str(path), str(renamed), reason)
    created = not path.exists()
    if created:
        _create(path, now_ms, new_database_id())
    connection = sqlite_file.connect(path)
    database = QueueDatabase(connection)
    return Opening(database, aside, database.start(created))


def queue_database_in_memory(now_ms: int, database_id: str) -> QueueDatabase:
    """A new queue database without a file, never started yet."""
    fill = _meta_row(now_ms, database_id)
    return QueueDatabase(sqlite_file.in_memory(KIND, fill))


def _create(path: Path, now_ms: int, database_id: str) -> None:
    sqlite_file.create(path, KIND, _meta_row(now_ms, database_id))


def _meta_row(now_ms: int, database_id: str) -> sqlite_file.Fill:
    row = (1, database_id, now_ms, 0, 0)
    return lambda connection: connection.execute("INSERT INTO meta VALUES (?, ?, ?, ?, ?)", row)


class QueueDatabase:
    """An open queue database. Not for two threads at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def distrust(self) -> str | None:
        """Why it cannot be trusted, or None, as is asked of a file before it is opened."""
        return sqlite_file.damage_in(self._connection, KIND)

    def limit_growth(self, is_full: bool) -> None:
        """Stand on a full disk, or on one with room again."""
        sqlite_file.limit_growth(self._connection, is_full)

    @property
    def used_bytes(self) -> int:
        """Of the disk. Raises sqlite3.Error."""
        return sqlite_file.used_bytes(self._connection)

    def write_journal(self) -> None:
        """What is in the journal into the file, so that it begins anew. Raises sqlite3.Error."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @property
    def free_bytes(self) -> int:
        """Of its file, for what comes next. Raises sqlite3.Error."""
        return sqlite_file.free_bytes(self._connection)

    def start(self, created: bool) -> DatabaseOpened:
        """Count one start more, then `opened`: a file that cannot be written to is found out now,
        not with the first message. Raises sqlite3.Error.
        """
        with transaction(self._connection):
            self._connection.execute(COUNT_START)
        return self.opened(created)

    def opened(self, created: bool) -> DatabaseOpened:
        """All that is held, as the core needs it at start."""
        run = self._connection.execute
        database_id, created_ms, starts, last_sequence = run(LOAD_META).fetchone()
        return DatabaseOpened(
            database_id=database_id,
            created=created,
            starts=starts,
            messages=messages_of(run(LOAD_MESSAGES), run(LOAD_FORKS)),
            shadows=tuple(map(shadow_of, run(LOAD_SHADOWS))),
            discards=tuple(map(discard_of, run(LOAD_DISCARDS))),
            discards_asked=tuple(run(LOAD_DISCARDS_ASKED).fetchall()),
            contacts=tuple(map(contact_of, run(LOAD_CONTACTS))),
            last_discard_sequence=last_sequence,
            next_safety_net_expiry_ms=self._next_expiry_ms(),
            created_ms=created_ms,
            resubmit_requests=requests_of(run(LOAD_REQUESTS), run(LOAD_HEADS)),
            active_copies=tuple(ActiveCopy(*row) for row in run(LOAD_ACTIVE_COPIES)),
        )

    def apply(self, changes: tuple[Change | ManagerChange, ...], fetch: FetchBody) -> None:
        """One durable transaction. Raises StateMismatch for our mistakes, and sqlite3.Error or
        BodyGone for the world's.
        """
        with transaction(self._connection):
            apply_changes(self._connection, changes, fetch)

    def commit(
        self,
        commits: Sequence[Commit],
        fetch: FetchBody,
        halfway: Halfway = lambda: None,
    ) -> tuple[Committed | CommitFailed, ...]:
        """Carry out a group of commits in one transaction; each is all or nothing. Answers are in
        order. `halfway` is called inside the transaction, behind the first of several.

        Raises StateMismatch, with nothing of the group done.
        """
        try:
            with transaction(self._connection):
                for number, commit in enumerate(commits):
                    if number == 1:
                        halfway()
                    apply_changes(self._connection, commit.changes, fetch)
        except (sqlite3.Error, BodyGone) as error:
            if len(commits) == 1:
                return (CommitFailed(commits[0].commit, str(error)),)
            return tuple(self._alone(commit, fetch) for commit in commits)
        return tuple(Committed(commit.commit) for commit in commits)

    def _alone(self, commit: Commit, fetch: FetchBody) -> Committed | CommitFailed:
        try:
            self.apply(commit.changes, fetch)
        except (sqlite3.Error, BodyGone) as error:
            return CommitFailed(commit.commit, str(error))
        return Committed(commit.commit)

    def expire_safety_net(self, now_ms: int) -> SafetyNetExpired:
        """Remove from both Safety Nets and the shadow queue what expires at or before `now_ms`
        (SN-1, SN-2). What the disk will not let go of now, it is asked for again later.
        """
        removed: list[ExpiredCopy] = []
        try:
            with transaction(self._connection):
                for table, queue in EXPIRING:
                    removed += self._expire(table, queue, now_ms)
        except sqlite3.Error:
            return SafetyNetExpired((), now_ms + EXPIRE_AGAIN_MS)
        return SafetyNetExpired(tuple(removed), self._next_expiry_ms())

    def _expire(self, table: str, queue: str, now_ms: int) -> Iterable[ExpiredCopy]:
        run = self._connection.execute
        expired = run(find_expired(table), (now_ms,)).fetchall()
        if not expired:
            return []
        deleted = run(delete_expired(table), (now_ms,)).rowcount
        if deleted != len(expired):
            raise StateMismatch(f"{deleted} rows of {table} went, not {len(expired)}")
        if table == "primary_safety_net":
            self._connection.executemany(DELETE_FORKS, ((row[0],) for row in expired))
        release_bodies(self._connection, (row[3] for row in expired))
        return [ExpiredCopy(queue, *row[:3]) for row in expired]

    def _next_expiry_ms(self) -> int | None:
        earliest = (self._connection.execute(earliest_expiry(t)).fetchone()[0] for t, _ in EXPIRING)
        return min((expires_ms for expires_ms in earliest if expires_ms is not None), default=None)

    def read_safety_net(self, asked: ReadSafetyNet) -> SafetyNetRead | SafetyNetNotRead:
        """The next copies of a Safety Net in order of delivery."""
        try:
            return read_safety_net(self._connection, asked)
        except sqlite3.Error as error:
            return SafetyNetNotRead(asked.read, str(error))

    def read_body(self, internal_id: int) -> bytes | None:
        """The body `db:<internal_id>`; None where there is no such message."""
        return read_body(self._connection, internal_id)

    def count_copies(self, session: str) -> CopiesCounted:
        """In both Safety Nets, for whoever asks in that session. Raises sqlite3.Error."""
        primary, shadow = (
            int(self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for table in ("primary_safety_net", "shadow_safety_net")
        )
        return CopiesCounted(session, primary, shadow)

    @property
    def connection(self) -> sqlite3.Connection:
        """For whoever dumps it."""
        return self._connection

    def reader(self) -> QueueDatabase:
        """A second connection to the same file, for reading beside the writer."""
        _, _, path = self._connection.execute("PRAGMA database_list").fetchone()
        return QueueDatabase(sqlite_file.connect(Path(path)))

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
