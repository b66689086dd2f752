"""A copy of a mailbox database on disk: what each change does to it, and where it stands.

A passive copy takes exactly the log that follows its last one, one log a transaction, so no half
log and no log twice is ever in it. A change that meets another state than it expects is a mistake
of ours (`StateMismatch`); a content that is not whole is the world's (`Unreadable`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, TypeAlias

from nodes.core.interface.copy_changes import (
    AwaitDeliveries,
    CopyChange,
    CorruptMailboxes,
    DismountCopy,
    DropLogs,
    FollowCopy,
    ImportMailbox,
    InsertOutboxItem,
    MountCopy,
    OpenCopy,
    ReadOutbox,
    RemoveOutboxItem,
    ReplayKeptLog,
    ReplayLog,
    SeedCopy,
)
from nodes.core.model.database_copy import SOURCES, CopyStanding, CopyState, ReplicationLog
from nodes.store.mailbox import corruption, moves, outbox, seeds
from nodes.store.mailbox import delivered as arrivals
from nodes.store.mailbox.log_content import (
    LogRecord,
    checksum,
    expect_checksum,
    from_content,
    to_content,
)
from nodes.store.queue.changes import FetchBody, StateMismatch


class NotActive(Exception):
    """Only an active copy, or one that has no other, takes what users do."""


Logs: TypeAlias = tuple[ReplicationLog, ...]

MOUNT = "mount"

_LOG = "number, epoch, previous_epoch, made_ms, sha256"
_STANDING = (
    "name, state, epoch, created_ms, last_log, last_log_epoch, last_log_ms, "
    "mounted_ms, mounted_after_log, mounted_after_ms"
)
LOAD_STANDING = f"SELECT {_STANDING} FROM meta"
LOAD_STATE = "SELECT state FROM meta"
LOAD_BRANCHES = "SELECT epoch, after_log FROM branches ORDER BY epoch"
LOAD_LOGS = f"SELECT {_LOG} FROM logs ORDER BY number"
LAST_RECEIVED = "SELECT number, epoch FROM logs ORDER BY number DESC LIMIT 1"
ADD_LOG = f"INSERT INTO logs ({_LOG}, content) VALUES (?, ?, ?, ?, ?, ?)"
KEPT_BEFORE = "SELECT number FROM logs WHERE number > ? AND made_ms < ? ORDER BY number"
READ_LOG = "SELECT content FROM logs WHERE number = ?"
TAKE_LOG = f"DELETE FROM logs WHERE number = ? RETURNING {_LOG}, content"
DROP_LOGS = "DELETE FROM logs WHERE number <= ?"
DROP_RECEIVED = "DELETE FROM logs WHERE number > ?"
ADD_BRANCH = "INSERT INTO branches (epoch, after_log) VALUES (?, ?)"
SET_LAST_LOG = (
    "UPDATE meta SET last_log = ?, last_log_epoch = ?, last_log_ms = ? WHERE last_log = ?"
)
BECOME_COPY = (
    "UPDATE meta SET state = ?, created_ms = iif(created_ms = 0, ?, created_ms) "
    "WHERE state = 'single'"
)
MOUNT_AGAIN = "UPDATE meta SET state = 'active' WHERE state IN ('active', 'dismounted')"
MOUNT_COPY = (
    "UPDATE meta SET state = 'active', epoch = ?, mounted_ms = ?, "
    "mounted_after_log = last_log, mounted_after_ms = last_log_ms "
    "WHERE epoch < ? AND state != 'seeding'"
)
DISMOUNT = "UPDATE meta SET state = 'dismounted' WHERE state = 'active'"
FOLLOW = (
    "UPDATE meta SET state = iif(state = 'seeding', 'seeding', 'passive'), epoch = ? "
    "WHERE epoch <= ?"
)


def standing_of(db: sqlite3.Connection) -> CopyStanding:
    name, state, epoch, created_ms, *last = db.execute(LOAD_STANDING).fetchone()
    last_log, last_epoch, last_ms, mounted_ms, after_log, after_ms = last
    received = db.execute(LAST_RECEIVED).fetchone() or (0, 0)
    return CopyStanding(
        database=name,
        state=CopyState(state),
        epoch=epoch,
        created_ms=created_ms,
        last_log=last_log,
        last_log_epoch=last_epoch,
        last_log_ms=last_ms,
        received=max(last_log, received[0]),
        received_epoch=received[1] if received[0] > last_log else last_epoch,
        mounted_ms=mounted_ms,
        mounted_after_log=after_log,
        mounted_after_ms=after_ms,
        branches=tuple(db.execute(LOAD_BRANCHES)),
    )


def state_of(db: sqlite3.Connection) -> CopyState:
    return CopyState(db.execute(LOAD_STATE).fetchone()[0])


def read_log(db: sqlite3.Connection, number: int) -> bytes | None:
    """Content of a log that is kept."""
    row = db.execute(READ_LOG, (number,)).fetchone()
    return None if row is None else bytes(row[0])


Apply: TypeAlias = Callable[[sqlite3.Connection, Any, FetchBody], Logs]


def apply_change(db: sqlite3.Connection, what: CopyChange, fetch: FetchBody) -> Logs:
    """Carry the change out inside the transaction that the caller has begun; the logs that are
    kept since. Raises Unreadable, NotActive, StateMismatch, sqlite3.Error.
    """
    return _APPLY[type(what)](db, what, fetch)


def write_log(db: sqlite3.Connection, record: LogRecord, at_ms: int) -> ReplicationLog:
    """The next log of an active copy, in the transaction of what it says."""
    standing = standing_of(db)
    content = to_content(record)
    log = ReplicationLog(
        standing.database,
        standing.last_log + 1,
        standing.epoch,
        standing.last_log_epoch,
        at_ms,
        checksum(content),
    )
    _keep(db, log, content)
    _advance(db, log)
    return log


def _open(db: sqlite3.Connection, change: OpenCopy) -> Logs:
    db.execute(BECOME_COPY, (change.state.value, change.at_ms))
    name = standing_of(db).database
    return tuple(ReplicationLog(name, *row) for row in db.execute(LOAD_LOGS))


def _mount(db: sqlite3.Connection, change: MountCopy) -> Logs:
    standing = standing_of(db)
    if change.epoch == standing.epoch:
        _expect_one(db.execute(MOUNT_AGAIN).rowcount, change)
        return ()
    if change.before_ms is not None:
        _replay_before(db, standing.last_log, change.before_ms)
    db.execute(DROP_RECEIVED, (standing_of(db).last_log,))
    row = (change.epoch, change.at_ms, change.epoch)
    _expect_one(db.execute(MOUNT_COPY, row).rowcount, change)
    return (write_log(db, {"kind": MOUNT, "epoch": change.epoch}, change.at_ms),)


def _dismount(db: sqlite3.Connection, change: DismountCopy) -> Logs:
    _expect_one(db.execute(DISMOUNT).rowcount, change)
    return ()


def _corrupt(db: sqlite3.Connection, change: CorruptMailboxes) -> Logs:
    if state_of(db) is not CopyState.ACTIVE:
        raise StateMismatch(f"{standing_of(db)}: {change}")
    corruption.corrupt(db)
    return (write_log(db, {"kind": corruption.KIND}, change.at_ms),)


def _follow(db: sqlite3.Connection, change: FollowCopy) -> Logs:
    """What an active copy kept for others is of no use any more; what a lagged one received
    under an epoch before may be.
    """
    standing = standing_of(db)
    _expect_one(db.execute(FOLLOW, (change.epoch, change.epoch)).rowcount, change)
    db.execute(DROP_LOGS, (standing.last_log,))
    return ()


def _replay(db: sqlite3.Connection, change: ReplayLog, fetch: FetchBody) -> Logs:
    log, content = change.log, fetch(change.body)
    expect_checksum(content, log.sha256)
    standing = standing_of(db)
    follows = (standing.received + 1, standing.received_epoch) == (log.number, log.previous_epoch)
    if standing.state is not CopyState.PASSIVE or not follows:
        raise StateMismatch(f"{standing}: {change}")
    _expect_one(db.execute(FOLLOW, (change.epoch, change.epoch)).rowcount, change)
    if change.is_kept:
        _keep(db, log, content)
        return (log,)
    _take_in(db, log, content)
    return ()


def _replay_kept(db: sqlite3.Connection, change: ReplayKeptLog) -> Logs:
    _replay_number(db, change.number)
    return ()


def _replay_before(db: sqlite3.Connection, last_log: int, before_ms: int) -> None:
    """Each log after the last one replayed, up to the first that was made too late."""
    numbers = [number for (number,) in db.execute(KEPT_BEFORE, (last_log, before_ms))]
    for expected, number in enumerate(numbers, start=last_log + 1):
        if number != expected:
            return
        _replay_number(db, number)


def _replay_number(db: sqlite3.Connection, number: int) -> None:
    taken = db.execute(TAKE_LOG, (number,)).fetchall()
    _expect_one(len(taken), number)
    *row, content = taken[0]
    _take_in(db, ReplicationLog(standing_of(db).database, *row), content)


def _seed(db: sqlite3.Connection, change: SeedCopy, fetch: FetchBody) -> Logs:
    if state_of(db) not in (CopyState.PASSIVE, CopyState.SEEDING):
        raise StateMismatch(f"{standing_of(db)}: {change}")
    seeds.replant(db, fetch(change.body))
    _expect_one(db.execute(FOLLOW, (change.epoch, change.epoch)).rowcount, change)
    return ()


def _drop(db: sqlite3.Connection, change: DropLogs) -> Logs:
    """Only a source has logs for others."""
    if state_of(db) in SOURCES:
        db.execute(DROP_LOGS, (change.up_to,))
    return ()


def _await_deliveries(db: sqlite3.Connection, change: AwaitDeliveries) -> Logs:
    takes_mail(db)
    return ()


def _import_mailbox(db: sqlite3.Connection, change: ImportMailbox, fetch: FetchBody) -> Logs:
    content = fetch(change.body)
    writes_log = takes_mail(db)
    record = from_content(content, moves.KIND)
    moves.take_in(db, record)
    return _logged(db, record, change.at_ms) if writes_log else ()


def _insert_item(db: sqlite3.Connection, change: InsertOutboxItem, fetch: FetchBody) -> Logs:
    content = fetch(change.body)
    writes_log = takes_mail(db)
    outbox.add(db, change.item, content)
    return _logged(db, outbox.to_record(change.item, content), change.at_ms) if writes_log else ()


def _remove_item(db: sqlite3.Connection, change: RemoveOutboxItem) -> Logs:
    writes_log = takes_mail(db)
    if not outbox.remove(db, change.item_id) or not writes_log:
        return ()
    return _logged(db, outbox.removed_record(change.item_id), change.at_ms)


def _read_outbox(db: sqlite3.Connection, change: ReadOutbox) -> Logs:
    takes_mail(db)
    return ()


def takes_mail(db: sqlite3.Connection) -> bool:
    """Whether what this copy takes now needs a log. Raises NotActive where it takes nothing."""
    state = state_of(db)
    if state not in (CopyState.SINGLE, CopyState.ACTIVE):
        raise NotActive(f"the copy here is {state.value}")
    return state is CopyState.ACTIVE


def _logged(db: sqlite3.Connection, record: LogRecord, at_ms: int) -> Logs:
    return (write_log(db, record, at_ms),)


def _keep(db: sqlite3.Connection, log: ReplicationLog, content: bytes) -> None:
    row = (log.number, log.epoch, log.previous_epoch, log.made_ms, log.sha256)
    db.execute(ADD_LOG, (*row, content))


def _take_in(db: sqlite3.Connection, log: ReplicationLog, content: bytes) -> None:
    """What the log says happens here too."""
    of_outbox = (outbox.SUBMISSION, outbox.SUBMITTED)
    kinds = (arrivals.KIND, corruption.KIND, moves.KIND, *of_outbox, MOUNT)
    record = from_content(content, *kinds)
    if record["kind"] == arrivals.KIND:
        arrivals.store(db, arrivals.from_record(record))
    elif record["kind"] == corruption.KIND:
        corruption.corrupt(db)
    elif record["kind"] == moves.KIND:
        moves.take_in(db, record)
    elif record["kind"] in of_outbox:
        outbox.take_in(db, record)
    _advance(db, log)


def _advance(db: sqlite3.Connection, log: ReplicationLog) -> None:
    if log.epoch != log.previous_epoch:
        db.execute(ADD_BRANCH, (log.epoch, log.number - 1))
    row = (log.number, log.epoch, log.made_ms, log.number - 1)
    _expect_one(db.execute(SET_LAST_LOG, row).rowcount, log)


def _expect_one(found: int, expected_by: object) -> None:
    if found != 1:
        raise StateMismatch(f"{found} rows are as expected, not 1: {expected_by}")


def _alone(change: Callable[[sqlite3.Connection, Any], Logs]) -> Apply:
    """One that brings no body."""
    return lambda db, what, fetch: change(db, what)


_APPLY: dict[type[CopyChange], Apply] = {
    OpenCopy: _alone(_open),
    MountCopy: _alone(_mount),
    DismountCopy: _alone(_dismount),
    FollowCopy: _alone(_follow),
    ReplayLog: _replay,
    ReplayKeptLog: _alone(_replay_kept),
    SeedCopy: _seed,
    DropLogs: _alone(_drop),
    CorruptMailboxes: _alone(_corrupt),
    AwaitDeliveries: _alone(_await_deliveries),
    ImportMailbox: _import_mailbox,
    InsertOutboxItem: _insert_item,
    RemoveOutboxItem: _alone(_remove_item),
    ReadOutbox: _alone(_read_outbox),
}
