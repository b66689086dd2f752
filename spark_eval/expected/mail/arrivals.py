"""When a message arrived: what recipients see, and what was brought into copies of a mailbox
database with several, some of which were lost with one.

Two voices speak of such a copy: its own server logs each delivery (DELIVER), the primary each fork
that it has brought there (SEND).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow

_STORED = ("DELIVER", "DUPLICATEDELIVER")
_FORK, _CONTEXT = "database:", "MDB:"


class Arrival(NamedTuple):
    at_ms: int
    ref: Ref


class Brought(NamedTuple):
    """A row of a delivery into an active copy: `copy` is its server, `epoch` under which it was
    active.
    """

    row: TrackingRow
    database: str
    copy: str
    epoch: int


@lru_cache(maxsize=4)
def brought_into(message: Message, run: Run) -> list[Brought]:
    """By either voice; databases with one copy are left out."""
    found = []
    for row in message.tracking:
        named = database_of(row)
        active = run.active_copies.get(named or "")
        if active is not None and row.internal_id is not None:
            copy = (row.peer or "") if row.event == "SEND" else row.server
            epoch = active.epoch_at(copy, row.at_ms if row.mono_ns is None else row.mono_ns)
            if epoch is not None:
                found.append(Brought(row, active.database, copy, epoch))
    return found


def database_of(row: TrackingRow) -> str | None:
    """Into which mailbox database a row says that something was brought."""
    if row.event in _STORED and row.source == "STOREDRIVER":
        return (row.context or "")[len(_CONTEXT) :]
    if row.event == "SEND" and (row.fork or "").startswith(_FORK):
        return (row.fork or "").removeprefix(_FORK)
    return None


@lru_cache(maxsize=4)
def arrivals(message: Message, run: Run) -> dict[str, list[Arrival]]:
    """By recipient, in order."""
    found: dict[str, list[Arrival]] = {}
    for seen in message.visible:
        if seen.copied_ms is not None:
            found.setdefault(seen.recipient, []).append(Arrival(seen.copied_ms, seen.ref))
    for each in brought_into(message, run):
        if each.row.event != "SEND":
            for recipient in each.row.recipients or ():
                arrival = Arrival(each.row.at_ms, each.row.ref)
                found.setdefault(recipient, []).append(arrival)
    return {recipient: sorted(known) for recipient, known in found.items()}
