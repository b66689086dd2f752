"""Resubmit requests on disk: what each change does, and what is there at start (SN-9, SN-16)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from nodes.core.interface.resubmit_changes import (
    AdvanceResubmitRequest,
    HeadTaken,
    InsertResubmitRequest,
    RemoveResubmitRequest,
    SetResubmitState,
)
from nodes.core.model.resubmit_request import (
    Position,
    ResubmitDemand,
    ResubmitRequest,
    ResubmitState,
    SafetyNetSource,
)
from nodes.store.queue.rows import Row, addresses_of, addresses_text

_COLUMNS = (
    "request_id, source, destination, start_ms, end_ms, primaries, requested_by, created_ms, "
    "progress_ms, progress_id, progress_fork, state, resubmitted, head_end_ms"
)
LOAD_REQUESTS = f"SELECT {_COLUMNS} FROM resubmit_requests ORDER BY request_id"
LOAD_HEADS = "SELECT request_id, server FROM resubmit_heads ORDER BY request_id, server"
INSERT_REQUEST = f"INSERT INTO resubmit_requests ({_COLUMNS}) VALUES ({', '.join('?' * 14)})"
INSERT_HEAD = "INSERT INTO resubmit_heads (request_id, server) VALUES (?, ?)"
ADVANCE = (
    "UPDATE resubmit_requests SET progress_ms = ?, progress_id = ?, progress_fork = ?, "
    "resubmitted = resubmitted + ? "
    "WHERE request_id = ? AND (progress_ms, progress_id, progress_fork) < (?, ?, ?)"
)
SET_STATE = "UPDATE resubmit_requests SET state = ? WHERE request_id = ? AND state = ?"
DELETE_HEAD = "DELETE FROM resubmit_heads WHERE request_id = ? AND server = ?"
DELETE_HEADS = "DELETE FROM resubmit_heads WHERE request_id = ?"
DELETE_REQUEST = "DELETE FROM resubmit_requests WHERE request_id = ?"


def requests_of(rows: Iterable[Row], heads: Iterable[Row]) -> tuple[ResubmitRequest, ...]:
    """Requests of their rows, and who is still to be notified; both in the order of request ids."""
    untold = {key: tuple(r[1] for r in group) for key, group in groupby(heads, lambda row: row[0])}
    return tuple(_request(row, untold.get(row[0], ())) for row in rows)


def _request(row: Row, untold: tuple[str, ...]) -> ResubmitRequest:
    request_id, source, destination, start_ms, end_ms, primaries = row[:6]
    return ResubmitRequest(
        ResubmitDemand(
            request_id,
            SafetyNetSource(source),
            destination,
            start_ms,
            end_ms,
            addresses_of(primaries),
        ),
        requested_by=row[6],
        created_ms=row[7],
        progress=Position(*row[8:11]),
        state=ResubmitState(row[11]),
        resubmitted=row[12],
        head_end_ms=row[13],
        untold=untold,
    )


def insert_request(db: sqlite3.Connection, change: InsertResubmitRequest) -> int:
    """Number of rows met, here and below: 1 is as expected."""
    request, demand = change.request, change.request.demand
    row = (
        demand.request_id,
        demand.source.value,
        demand.destination,
        demand.start_ms,
        demand.end_ms,
        addresses_text(demand.primaries),
        request.requested_by,
        request.created_ms,
        *_position_row(request.progress),
        request.state.value,
        request.resubmitted,
        request.head_end_ms,
    )
    db.executemany(INSERT_HEAD, [(demand.request_id, server) for server in request.untold])
    return db.execute(INSERT_REQUEST, row).rowcount


def advance(db: sqlite3.Connection, change: AdvanceResubmitRequest) -> int:
    to = _position_row(change.progress)
    return db.execute(ADVANCE, (*to, change.count, change.request_id, *to)).rowcount


def set_state(db: sqlite3.Connection, change: SetResubmitState) -> int:
    row = (change.state.value, change.request_id, change.expected.value)
    return db.execute(SET_STATE, row).rowcount


def head_taken(db: sqlite3.Connection, change: HeadTaken) -> int:
    return db.execute(DELETE_HEAD, (change.request_id, change.server)).rowcount


def remove_request(db: sqlite3.Connection, change: RemoveResubmitRequest) -> int:
    db.execute(DELETE_HEADS, (change.request_id,))
    return db.execute(DELETE_REQUEST, (change.request_id,)).rowcount


def _position_row(position: Position) -> tuple[Any, ...]:
    return position.delivered_ms, position.internal_id, position.fork
