"""Forks of primary messages: a row a next hop, and one more for recipients that had their end
before the others. Recipients whose mailbox moves wait in the row of another next hop.

`done` or `expired` is the end of a fork. Functions say how many rows were as the change expects;
its caller wants one.
"""

from __future__ import annotations

import sqlite3

from nodes.core.interface.queue_changes import FinishFork, RerouteFork, SplitFork
from nodes.core.model.message import ForkState, PrimaryMessage
from nodes.store.queue.rows import FORK_COLUMNS, addresses_of, addresses_text, fork_rows

_UNFINISHED = "state NOT IN ('done', 'expired')"
_THIS_FORK = f"internal_id = ? AND next_hop = ? AND {_UNFINISHED}"

INSERT_FORK = f"INSERT INTO forks ({FORK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
FINISH_FORK = f"UPDATE forks SET state = ?, done_ms = ?, next_hop = ? WHERE {_THIS_FORK}"
UNFINISHED_FORKS = f"SELECT count(*) FROM forks WHERE internal_id = ? AND {_UNFINISHED}"
DELETE_FORKS = "DELETE FROM forks WHERE internal_id = ?"
READ_RECIPIENTS = f"SELECT recipients FROM forks WHERE {_THIS_FORK}"
REMOVE_FORK = f"DELETE FROM forks WHERE {_THIS_FORK}"
LEAVE_FORK = f"UPDATE forks SET recipients = ? WHERE {_THIS_FORK}"
ADD_PART = (
    f"INSERT INTO forks ({FORK_COLUMNS}) "
    "SELECT ?1, max(position) + 1, ?2, ?3, ?4, ?5 FROM forks WHERE internal_id = ?1"
)


def insert(db: sqlite3.Connection, message: PrimaryMessage) -> None:
    db.executemany(INSERT_FORK, fork_rows(message))


def unfinished(db: sqlite3.Connection, internal_id: int) -> int:
    return int(db.execute(UNFINISHED_FORKS, (internal_id,)).fetchone()[0])


def finish(db: sqlite3.Connection, change: FinishFork) -> int:
    key = (change.internal_id, str(change.next_hop))
    return db.execute(FINISH_FORK, (change.state, change.at_ms, _left_by(change), *key)).rowcount


def split(db: sqlite3.Connection, change: SplitFork) -> int:
    """The recipients that stay keep the row, and its place."""
    key = (change.internal_id, str(change.next_hop))
    everybody = _recipients(db, *key)
    staying = tuple(each for each in everybody if each not in change.recipients)
    if not staying or not set(change.recipients) <= set(everybody):
        return 0
    leaving = addresses_text(change.recipients)
    part = (change.internal_id, _left_by(change), leaving, change.state, change.at_ms)
    db.execute(ADD_PART, part)
    return db.execute(LEAVE_FORK, (addresses_text(staying), *key)).rowcount


def reroute(db: sqlite3.Connection, change: RerouteFork) -> int:
    """Nobody has had an end by this."""
    here, there = (change.internal_id, str(change.next_hop)), (change.internal_id, str(change.to))
    everybody, others = _recipients(db, *here), _recipients(db, *there)
    if not set(change.recipients) <= set(everybody):
        return 0
    if others:
        db.execute(LEAVE_FORK, (addresses_text((*others, *change.recipients)), *there))
    else:
        part = (*there, addresses_text(change.recipients), ForkState.QUEUED.value, None)
        db.execute(ADD_PART, part)
    staying = tuple(each for each in everybody if each not in change.recipients)
    if staying:
        return db.execute(LEAVE_FORK, (addresses_text(staying), *here)).rowcount
    return db.execute(REMOVE_FORK, here).rowcount


def _recipients(db: sqlite3.Connection, internal_id: int, next_hop: str) -> tuple[str, ...]:
    """Of the unfinished fork; nobody, where there is none."""
    found = db.execute(READ_RECIPIENTS, (internal_id, next_hop)).fetchall()
    return addresses_of(found[0][0]) if found else ()


def _left_by(change: FinishFork | SplitFork) -> str:
    return str(change.redirected_to or change.next_hop)
