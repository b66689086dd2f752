"""discard_after_delivery: no shadow is let go before every fork is done, and each is in time after.

Three questions to each shadow: the order (SM-1, SM-4, SM-10), the deadline of one heartbeat once
both servers can be reached (SM-2 to SM-5, SM-16), and whether the time of delivery that it was let
go with is right (SN-2). `expected.discards` derives their bounds. What passes between the two
servers is `discards_asked`'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Case, Judged, Status, asked, fits
from spark_eval.cases.forms import bound, precedence
from spark_eval.cases.words import hole_of, stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.forks import Forks
from spark_eval.expected.shadow.discards import Discard, discards_of, is_asked
from spark_eval.expected.shadow.shadow_copies import exchange_ms, is_coarse, too_coarse
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow

_RESTARTS = ("kill", "stop", "restart")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for discard in discards_of(each, run):
            if discard.copy.discard is not None:
                yield from _order(each, discard, discard.copy.discard, run)
                yield from _time(each, discard, discard.copy.discard, run)
            if is_asked(discard, run):
                yield from _deadline(each, discard, run)


def _order(message: Message, discard: Discard, row: TrackingRow, run: Run) -> Iterator[Case]:
    forks, held = discard.forks, discard.copy.held
    status, detail = in_order(discard, row, run)
    yield from asked(
        status, message.message_id, ("SM-1", "SM-4", "SM-10"), detail, row.at_ms, row,
        forks.done_ref if forks else None, held,
        weight=forks.done_ms - row.at_ms if forks and forks.done_ms is not None else 1e15,
        server=discard.copy.server.name,
    )  # fmt: skip


def in_order(discard: Discard, row: TrackingRow, run: Run) -> Judged:
    """Of a shadow message that was let go: `row` says so."""
    copy, forks, primary = discard.copy, discard.forks, discard.copy.primary
    if forks is not None and discard.is_complete:
        early = f"{(forks.done_ms or 0) - row.at_ms} ms before the last fork was done"
        is_early = _before(row, forks, run) == VIOLATED
        return fits(f"{copy.server.name} let it go {early}" if is_early else "")
    if primary is None or primary.shows(copy.held_ms or 0, row.at_ms):
        undone = f"{copy.primary_name} did not log every recipient done"
        return VIOLATED, f"{copy.server.name} let it go; {undone}"
    seen_ms = discard.all_visible_ms
    is_seen = seen_ms is not None and seen_ms <= row.at_ms + run.finest_ms
    return FITS if is_seen else (UNKNOWN, hole_of(copy.primary_name))


def _before(row: TrackingRow, forks: Forks, run: Run) -> Status | None:
    if row.mono_ns is not None and forks.done_mono_ns is not None:
        return precedence(forks.done_mono_ns, row.mono_ns)
    return precedence(forks.done_ms or 0, row.at_ms + run.finest_ms)


def _time(message: Message, discard: Discard, row: TrackingRow, run: Run) -> Iterator[Case]:
    copy, forks = discard.copy, discard.forks
    said_ms = copy.delivered_at_ms
    if said_ms is None or not discard.is_complete or forks is None or forks.done_ms is None:
        return
    near_ms = exchange_ms(run) + run.finest_ms + copy.server.askew_ms
    known_ms = forks.done_ms if forks.known_ms is None else forks.known_ms
    # a row is written after the commit; a server that is paused in between does it when it goes on
    both = sorted((said_ms, forks.done_ms))
    is_excused = copy.primary is not None and touches(copy.primary.away(), *both)
    detail = (
        f"{copy.server.name} let it go as delivered at {stamp(said_ms)}; by the log of "
        f"{copy.primary_name} its last fork was done at {stamp(forks.done_ms)}"
    )
    yield from asked(
        bound(said_ms, forks.done_ms - near_ms, known_ms + near_ms, is_excused=is_excused),
        message.message_id, ("SN-2",), detail, row.at_ms, row, forks.done_ref,
        weight=abs(said_ms - forks.done_ms), server=copy.server.name,
    )  # fmt: skip


def _deadline(message: Message, discard: Discard, run: Run) -> Iterator[Case]:
    copy, forks, ended_ms = discard.copy, discard.forks, discard.ended_ms(run)
    status, detail = in_time(discard, run)
    late_ms = ended_ms - (discard.reachable_ms or 0)
    yield from asked(
        status, message.message_id, tuple(_requirements(discard, status, run)), detail, ended_ms,
        copy.held or copy.shadow.claimed, forks.done_ref if forks else None, copy.discard,
        weight=late_ms if copy.discard else late_ms + 1e12, server=copy.server.name,
    )  # fmt: skip


def _requirements(discard: Discard, status: Status | None, run: Run) -> Iterator[str]:
    yield from ("SM-2", "SM-3", "SM-4", "SM-19")
    copy, forks = discard.copy, discard.forks
    if forks is None or forks.done_ms is None:
        return
    span = (forks.done_ms, discard.ended_ms(run))
    if copy.primary is not None and touches(copy.primary.away(*_RESTARTS), *span):
        yield "SM-5"
    if status == VIOLATED and discard.untold_ms is not None:
        yield "SM-11"
    if touches(copy.pair.any_possible, *span):
        yield "SM-16"


def in_time(discard: Discard, run: Run) -> Judged:
    """Of one that `is_asked`."""
    copy, heartbeat_ms = discard.copy, run.config.heartbeat_ms
    server, primary, discard_ms = copy.server.name, copy.primary_name, copy.discard_ms
    assert discard.reachable_ms is not None
    assert discard.not_after_ms is not None
    if is_coarse(heartbeat_ms, run):
        return UNKNOWN, too_coarse("a heartbeat", heartbeat_ms, run)
    if discard_ms is None and copy.kept.in_safety_net:
        return FITS
    if discard_ms is not None and discard_ms <= discard.not_after_ms:
        return FITS
    ends = "never let it go" if discard_ms is None else f"let it go only at {stamp(discard_ms)}"
    known = stamp(discard.forks.known_ms if discard.forks else None)
    if discard.untold_ms is not None:
        at = stamp(discard.untold_ms)
        return VIOLATED, f"{server} asked {primary} at {at}, after delivery at {known}, and {ends}"
    if discard_ms is None:
        reached = f"both could be reached from {stamp(discard.reachable_ms)}"
        return VIOLATED, f"{server} {ends}; delivered at {known}, {reached}"
    due = stamp(discard.reachable_ms + heartbeat_ms)
    return VIOLATED, f"{server} let it go at {stamp(discard_ms)}, due {due}"


CLAIM = Claim(
    "discard_after_delivery",
    ("SM-1", "SM-2", "SM-3", "SM-4", "SM-5", "SM-10", "SM-11", "SM-16", "SM-19", "SN-2"),
    needs=frozenset({TRACKING}),
    of_message=_cases,
)
