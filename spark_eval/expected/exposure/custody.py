"""Which servers have a message on disk for a recipient, and while they do.

A custodian is a server with the message in any store that could give it back: a delivery queue, a
shadow queue, a Safety Net, a copy of his mailbox database. Several stores of one server are one
custodian, since one failure takes them all. A server that is stopped is one as long as its disk is
there; one that handed the message on, to another boundary or outside, is none: nobody asks its
Safety Net (SN-12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.exposure.mailbox_copies import in_mailbox_databases
from spark_eval.expected.mail.addressees import answered_for, handed_on
from spark_eval.expected.mail.crossings import hops
from spark_eval.expected.mail.forks import is_done
from spark_eval.expected.shadow.shadow_copies import Copy, copies_of
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, Primary, key_of
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow, collected


class Custody(NamedTuple):
    """`server` has it from `lo` to `hi`, lab ms; `ended`, why no longer. `in_queues`: in a store of
    its queue database, and not in a mailbox database. `unprotected`: it took it without a shadow.
    """

    server: str
    lo: int
    hi: int
    ended: str
    in_queues: bool
    unprotected: bool = False


class _End(NamedTuple):
    hi: int
    ended: str


@lru_cache(maxsize=4)
def custodies(message: Message, run: Run) -> dict[str, list[Custody]]:
    """By recipient. Whoever has it for a group that is handed on has it for whom that stands."""
    found: dict[str, list[Custody]] = {}
    for recipient, each in _all(message, run):
        for whom in handed_on(message, run).get(recipient, (recipient,)):
            found.setdefault(whom, []).append(each)
    return found


def _all(message: Message, run: Run) -> Iterator[tuple[str, Custody]]:
    whom, steps = answered_for(message, run), _last_steps(message.tracking)
    on = {hop.row.ref for hop in hops(message, run) if hop.left}
    for key, primary in message.primaries.items():
        if primary.is_there and key.server in run.servers:
            for recipient in whom[key]:
                last = steps.get((key, recipient))
                own = _of_primary(primary, last, on, run)
                yield recipient, own._replace(unprotected=primary.failure is not None)
    for copy in copies_of(message, run):
        key = copy.shadow.key.primary
        if key in whom and message.primaries[key].is_there and _was_held(copy):
            for recipient in whom[key]:
                yield recipient, _of_shadow(copy, steps.get((key, recipient)), on, run)
    for recipient, server, stay in in_mailbox_databases(message, run):
        yield recipient, Custody(server, stay.lo, stay.hi, stay.ended, in_queues=False)


def _last_steps(rows: Iterable[TrackingRow]) -> dict[tuple[Key, str], TrackingRow]:
    """By which each recipient was done for a server, the last time."""
    done = ((key_of(row), row) for row in rows if is_done(row))
    steps = collected(
        ((key, recipient), row)
        for key, row in done
        if key is not None
        for recipient in row.recipients or ()
    )
    return {of: max(rows, key=lambda row: (row.at_ms, row.ref)) for of, rows in steps.items()}


def _of_primary(primary: Primary, last: TrackingRow | None, on: set[Ref], run: Run) -> Custody:
    name, rows = primary.key.server, (primary.born, primary.loaded)
    since_ms = min(row.at_ms for row in rows if row is not None)
    return _until(name, since_ms, _lost(primary.key.database_id, name, run), _kept(last, on, run))


def _kept(last: TrackingRow | None, on: set[Ref], run: Run) -> _End:
    """Until when the server of a primary message has it, by what it did for the recipient last."""
    if last is None:
        return _End(FOREVER_MS, "")
    if last.event == "FAIL":
        return _End(last.at_ms, f"{last.server} gave it up")
    if last.ref in on:
        return _End(last.at_ms, f"{last.server} handed it on")
    hold_ms = run.config.hold_ms
    return _End(last.at_ms + hold_ms, f"the Safety Net of {last.server} had kept it long enough")


def _was_held(copy: Copy) -> bool:
    """Its own word counts, or its disk's; that of its primary where its log has a hole there. A
    real server does not say whose shadow message it took.
    """
    if copy.held is not None or copy.kept.as_shadow:
        return True
    taken = (row.server for row in copy.message.of_event("HARECEIVE") if not row.primary_server)
    if copy.server.name in taken:
        return True
    at_ms, late_ms = copy.held_ms, copy.server.slack_ms
    return at_ms is not None and not copy.server.shows(at_ms - late_ms, at_ms + late_ms)


def _of_shadow(copy: Copy, last: TrackingRow | None, on: set[Ref], run: Run) -> Custody:
    name, since_ms = copy.server.name, copy.held_ms or 0
    held = copy.held or copy.promoted or copy.discard
    lost = _lost((held.database_id if held else None) or "", name, run)
    return _until(name, since_ms, lost, _let_go(copy, last, on, run))


def _let_go(copy: Copy, last: TrackingRow | None, on: set[Ref], run: Run) -> _End:
    """What was handed on is nothing that a shadow message of it could bring back."""
    name = copy.server.name
    if last is not None and last.ref in on:
        return _kept(last, on, run)
    if copy.promoted_ms is not None:
        return _End(copy.promoted_ms, f"{name} promoted it")
    if copy.discard_ms is None:
        stays_ms = FOREVER_MS if copy.stays_until_ms is None else copy.stays_until_ms
        return _End(stays_ms, f"{name} had kept its shadow message long enough")
    if last is None or last.event == "FAIL":
        return _End(copy.discard_ms, f"{name} let its shadow message go")
    since_ms = copy.discard_ms if copy.delivered_at_ms is None else copy.delivered_at_ms
    hold_ms = run.config.hold_ms
    return _End(since_ms + hold_ms, f"the Safety Net of {name} had kept it long enough")


def _lost(database_id: str, server: str, run: Run) -> _End:
    lost_ms = run.servers[server].lost_ms(database_id)
    return _End(FOREVER_MS if lost_ms is None else lost_ms, f"{server} lost its queue database")


def _until(server: str, lo: int, *ends: _End) -> Custody:
    first = min(ends)
    return Custody(server, lo, first.hi, first.ended, in_queues=True)
