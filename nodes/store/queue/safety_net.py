"""Reading a Safety Net by delivery time, a page at a time (SN-8).

A fork is in the Primary Safety Net from the moment that it is done, whether or not the message
still waits for other forks: what was delivered to a database at 10:00 is wanted back at 10:05, even
if the last fork is done at 12:00. Who of the recipients is meant is the core's to say.

A Shadow Safety Net knows no forks, only when the first and the last of a message was delivered
there, and gives every copy that was being delivered in the interval: rather one too many, which the
mailbox turfs, than one too few.
"""

from __future__ import annotations

import sqlite3

from nodes.core.interface.effects import ReadSafetyNet
from nodes.core.interface.inputs import SafetyNetRead
from nodes.core.model.message import Envelope, Header
from nodes.core.model.next_hop import NextHop
from nodes.core.model.resubmit_request import KeptCopy, Position, SafetyNetSource
from nodes.store.queue.rows import Row, addresses_of

_MESSAGE = (
    "network_message_id",
    "message_id",
    "submitted_ms",
    "subject",
    "sender",
    "recipients",
    "size_bytes",
)
_KEPT_OR_QUEUED = ", ".join(f"coalesce(k.{column}, m.{column})" for column in _MESSAGE)

# a LEFT JOIN keeps the order of the loops: forks first, by their index
READ_PRIMARY = (
    f"SELECT f.done_ms, f.internal_id, f.position, {_KEPT_OR_QUEUED}, "
    "f.recipients, f.next_hop, '', k.expires_ms "
    "FROM forks AS f LEFT JOIN primary_safety_net AS k ON k.internal_id = f.internal_id "
    "LEFT JOIN messages AS m ON m.internal_id = f.internal_id "
    "WHERE f.state = 'done' AND (f.done_ms, f.internal_id, f.position) > (?, ?, ?) "
    "AND f.done_ms < ? ORDER BY f.done_ms, f.internal_id, f.position LIMIT ?"
)
READ_SHADOW = (
    f"SELECT delivered_ms, internal_id, 0, {', '.join(_MESSAGE)}, "
    "recipients, '', primary_server, expires_ms "
    "FROM shadow_safety_net WHERE (delivered_ms, internal_id) > (?, ?) "
    "AND coalesce(first_delivered_ms, delivered_ms) < ? ORDER BY delivered_ms, internal_id LIMIT ?"
)


def read_safety_net(connection: sqlite3.Connection, asked: ReadSafetyNet) -> SafetyNetRead:
    """The next page. Raises sqlite3.Error."""
    after, limits = asked.after, (asked.end_ms, asked.most)
    if asked.source is SafetyNetSource.PRIMARY:
        place = (after.delivered_ms, after.internal_id, after.fork)
        rows = connection.execute(READ_PRIMARY, (*place, *limits)).fetchall()
    else:
        place_of_shadow = (after.delivered_ms, after.internal_id)
        rows = connection.execute(READ_SHADOW, (*place_of_shadow, *limits)).fetchall()
    return SafetyNetRead(asked.read, tuple(map(_copy, rows)), more=len(rows) == asked.most)


def _copy(row: Row) -> KeptCopy:
    return KeptCopy(
        position=Position(*row[:3]),
        network_message_id=row[3],
        header=Header(*row[4:7]),
        envelope=Envelope(row[7], addresses_of(row[8])),
        size_bytes=row[9],
        recipients=addresses_of(row[10]),
        next_hop=NextHop.of(row[11]) if row[11] else None,
        primary=row[12],
        expires_ms=row[13],
    )
