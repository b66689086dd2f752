"""Active Manager's database: opened with all that is held, changed in durable transactions.

As strict as the queue database: every update names the state that it expects and checks that it met
one row. A damaged file is renamed and reported, and a new one gets a new id.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.core.interface.effects import Commit
from nodes.core.interface.inputs import CommitFailed, Committed, DatabaseSetAside, ManagerOpened
from nodes.core.interface.manager_changes import (
    InsertAsking,
    InsertFailover,
    ManagerChange,
    SetAsking,
    SetFailover,
    SetManagedDatabase,
    SetTelling,
)
from nodes.core.model.failover import (
    Asking,
    AskingState,
    Failover,
    FailoverKind,
    FailoverState,
    ManagedDatabase,
    Telling,
)
from nodes.core.model.resubmit_request import SafetyNetSource
from nodes.store import sqlite_file
from nodes.store.queue.changes import StateMismatch
from nodes.store.queue.rows import Row
from nodes.store.sqlite_file import transaction

KIND = "manager"

_FAILOVER = (
    "database, epoch, kind, cause, source, target, state, decided_ms, is_requested, "
    "dismounted_log, mounted_ms, start_ms, before_ms"
)
_ASKING = (
    "request_id, server, database, epoch, source, primary_server, start_ms, end_ms, "
    "silent_since_ms, state, broadcast_ms, resubmitted"
)
LOAD_META = "SELECT database_id, starts FROM meta"
_DATABASE = "database, server, epoch, created_ms, last_log"
LOAD_DATABASES = f"SELECT {_DATABASE} FROM databases ORDER BY database"
LOAD_FAILOVERS = f"SELECT {_FAILOVER} FROM failovers ORDER BY database, epoch"
LOAD_TELLINGS = (
    "SELECT database, server, epoch, target, learnt_ms FROM tellings ORDER BY database, server"
)
LOAD_ASKINGS = f"SELECT {_ASKING} FROM askings WHERE state = 'open' ORDER BY request_id, server"
COUNT_START = "UPDATE meta SET starts = starts + 1"
SET_DATABASE = (
    f"INSERT INTO databases ({_DATABASE}) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (database) DO UPDATE SET server = excluded.server, epoch = excluded.epoch, "
    "created_ms = excluded.created_ms, last_log = excluded.last_log WHERE excluded.epoch >= epoch"
)
INSERT_FAILOVER = f"INSERT INTO failovers ({_FAILOVER}) VALUES ({', '.join('?' * 13)})"
SET_FAILOVER = (
    "UPDATE failovers SET state = ?, dismounted_log = ?, mounted_ms = ?, start_ms = ? "
    "WHERE database = ? AND epoch = ? AND state = ?"
)
SET_TELLING = (
    "INSERT INTO tellings (database, server, epoch, target, learnt_ms) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (database, server) DO UPDATE SET epoch = excluded.epoch, "
    "target = excluded.target, learnt_ms = excluded.learnt_ms WHERE excluded.epoch >= epoch"
)
INSERT_ASKING = f"INSERT INTO askings ({_ASKING}) VALUES ({', '.join('?' * 12)})"
SET_ASKING = (
    "UPDATE askings SET end_ms = ?, silent_since_ms = ?, state = ?, broadcast_ms = ?, "
    "resubmitted = ? WHERE request_id = ? AND server = ? AND state = 'open'"
)


@dataclass(frozen=True, slots=True)
class ManagerOpening:
    """As `nodes.store.queue.database.Opening`."""

    database: ManagerDatabase
    set_aside: DatabaseSetAside | None
    opened: ManagerOpened


class ManagerDatabase:
    """An open database. Not for two threads at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def start(self, created: bool) -> ManagerOpened:
        """Count one start more; all that is held. Raises sqlite3.Error."""
        run = self._connection.execute
        with transaction(self._connection):
            run(COUNT_START)
        database_id, starts = run(LOAD_META).fetchone()
        return ManagerOpened(
            database_id,
            created,
            starts,
            tuple(ManagedDatabase(*row) for row in run(LOAD_DATABASES)),
            tuple(map(_failover_of, run(LOAD_FAILOVERS))),
            tuple(Telling(*row) for row in run(LOAD_TELLINGS)),
            tuple(map(_asking_of, run(LOAD_ASKINGS))),
        )

    def commit(self, commits: Sequence[Commit]) -> tuple[Committed | CommitFailed, ...]:
        """Carry out commits, each all or nothing. Answers are in order. Raises StateMismatch."""
        return tuple(map(self._commit, commits))

    def _commit(self, commit: Commit) -> Committed | CommitFailed:
        try:
            with transaction(self._connection):
                for change in commit.changes:
                    self._apply(change)
        except sqlite3.IntegrityError as error:
            raise StateMismatch(f"{error}: {commit}") from error
        except sqlite3.Error as error:
            return CommitFailed(commit.commit, str(error))
        return Committed(commit.commit)

    def _apply(self, change: object) -> None:
        statement, row = _APPLY[type(change)](change)
        found = self._connection.execute(statement, row).rowcount
        if found != 1:
            raise StateMismatch(f"{found} rows are as expected, not 1: {change}")

    def limit_growth(self, is_full: bool) -> None:
        """Stand on a full disk, or on one with room again."""
        sqlite_file.limit_growth(self._connection, is_full)

    @property
    def connection(self) -> sqlite3.Connection:
        """For whoever dumps it."""
        return self._connection

    def close(self) -> None:
        self._connection.close()


def open_manager_database(
    path: Path, now_ms: int, new_database_id: Callable[[], str]
) -> ManagerOpening:
    """Open the file, or make it. Raises sqlite3.Error or OSError where the place itself is of no
    use.
    """
    reason, aside = sqlite_file.distrust(path, KIND), None
    if reason is not None:
        renamed = sqlite_file.set_aside(path, sqlite_file.date_of(now_ms))
        aside = DatabaseSetAside(str(path), str(renamed), reason)
    created = not path.exists()
    if created:
        sqlite_file.create(path, KIND, _meta_row(now_ms, new_database_id()))
    connection = sqlite_file.connect(path)
    database = ManagerDatabase(connection)
    return ManagerOpening(database, aside, database.start(created))


def manager_database_in_memory(now_ms: int, database_id: str) -> ManagerDatabase:
    """A new one without a file, never started yet."""
    return ManagerDatabase(sqlite_file.in_memory(KIND, _meta_row(now_ms, database_id)))


def _meta_row(now_ms: int, database_id: str) -> sqlite_file.Fill:
    row = (1, database_id, now_ms, 0)
    insert = "INSERT INTO meta (only_row, database_id, created_ms, starts) VALUES (?, ?, ?, ?)"
    return lambda connection: connection.execute(insert, row)


def _failover_of(row: Row) -> Failover:
    database, epoch, kind, cause, source, target, state, decided_ms, asked, *rest = row
    kind, state = FailoverKind(kind), FailoverState(state)
    about = (database, epoch, kind, cause, source, target, state, decided_ms)
    return Failover(*about, bool(asked), *rest)


def _asking_of(row: Row) -> Asking:
    request_id, server, database, epoch, source, primary, start_ms, end_ms, *rest = row
    silent_since_ms, state, broadcast_ms, resubmitted = rest
    return Asking(
        request_id,
        server,
        database,
        epoch,
        SafetyNetSource(source),
        primary,
        start_ms,
        end_ms,
        silent_since_ms,
        AskingState(state),
        broadcast_ms,
        resubmitted,
    )


def _set_database(change: SetManagedDatabase) -> tuple[str, Row]:
    managed = change.managed
    row = (managed.database, managed.server, managed.epoch, managed.created_ms, managed.last_log)
    return SET_DATABASE, row


def _insert_failover(change: InsertFailover) -> tuple[str, Row]:
    f = change.failover
    about = (f.database, f.epoch, f.kind.value, f.cause, f.source, f.target)
    state = (f.state.value, f.decided_ms, f.is_requested)
    return INSERT_FAILOVER, (*about, *state, *_reached(f), f.before_ms)


def _reached(f: Failover) -> Row:
    return (f.dismounted_log, f.mounted_ms, f.start_ms)


def _set_failover(change: SetFailover) -> tuple[str, Row]:
    f = change.failover
    return SET_FAILOVER, (
        f.state.value,
        *_reached(f),
        f.database,
        f.epoch,
        change.expected.value,
    )


def _set_telling(change: SetTelling) -> tuple[str, Row]:
    t = change.telling
    return SET_TELLING, (t.database, t.server, t.epoch, t.target, t.learnt_ms)


def _insert_asking(change: InsertAsking) -> tuple[str, Row]:
    a = change.asking
    about = (a.request_id, a.server, a.database, a.epoch, a.source.value, a.primary, a.start_ms)
    state = (a.silent_since_ms, a.state.value, a.broadcast_ms, a.resubmitted)
    return INSERT_ASKING, (*about, a.end_ms, *state)


def _set_asking(change: SetAsking) -> tuple[str, Row]:
    a = change.asking
    state = (a.end_ms, a.silent_since_ms, a.state.value, a.broadcast_ms, a.resubmitted)
    return SET_ASKING, (*state, a.request_id, a.server)


_APPLY: dict[type[ManagerChange] | type[Any], Callable[[Any], tuple[str, Row]]] = {
    SetManagedDatabase: _set_database,
    InsertFailover: _insert_failover,
    SetFailover: _set_failover,
    SetTelling: _set_telling,
    InsertAsking: _insert_asking,
    SetAsking: _set_asking,
}
