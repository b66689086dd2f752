"""discard_after_delivery: no shadow is let go before every fork is done, and each is in time after.

Three questions to each shadow: the order (SM-1, SM-4, SM-10), the deadline of one heartbeat once
both servers can be reached (SM-2 to SM-5, SM-16), and whether the time of delivery that it was let
go with is right (SN-2). `expected.discards` derives their bounds. What passes between the two
servers is `discards_asked`'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.shadow.discards import Discard, discards_of, is_asked
from spark_eval.expected.shadow.shadow_copies import exchange_ms, is_coarse, too_coarse
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow

Judged = tuple[Status, str]
_RESTARTS = ("kill", "stop", "restart")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        for discard in discards_of(each, run):
            if discard.copy.discard is not None:
                yield _order(each, discard, discard.copy.discard, run)
                yield from _time(each, discard, discard.copy.discard, run)
            if is_asked(discard, run):
                yield _deadline(each, discard, run)


# the order


def _order(message: Message, discard: Discard, row: TrackingRow, run: Run) -> Case:
    forks, held = discard.forks, discard.copy.held
    status, detail = in_order(discard, row, run)
    early_ms = forks.done_ms - row.at_ms if forks and forks.done_ms is not None else 1e15
    return Case(
        status, message.message_id, ("SM-1", "SM-4", "SM-10"), detail, row.at_ms,
        refs(row.ref, forks.done_ref if forks else None, held.ref if held else None), early_ms,
        server=discard.copy.server.name,
    )  # fmt: skip


def in_order(discard: Discard, row: TrackingRow, run: Run) -> Judged:
    """Of a shadow message that was let go: `row` says so."""
    copy, forks = discard.copy, discard.forks
    if not discard.is_complete:
        has_a_hole = copy.primary is not None and not copy.primary.shows(
            copy.held_ms or 0, row.at_ms
        )
        if not has_a_hole:
            return VIOLATED, (
                f"{copy.server.name} let it go; {copy.primary_name} did not log every recipient "
                "done"
            )
        visible_ms = discard.all_visible_ms
        if visible_ms is not None and visible_ms <= row.at_ms + run.finest_ms:
            return HOLDS, ""
        return UNKNOWN, f"the tracking log of {copy.primary_name} has a hole there"
    assert forks is not None
    if _is_before(row, forks.done_ms, forks.done_mono_ns, run):
        early_ms = (forks.done_ms or 0) - row.at_ms
        return VIOLATED, (
            f"{copy.server.name} let it go {early_ms} ms before the last fork was done"
        )
    return HOLDS, ""


def _is_before(row: TrackingRow, done_ms: int | None, done_ns: int | None, run: Run) -> bool:
    if row.mono_ns is not None and done_ns is not None:
        return row.mono_ns < done_ns
    return done_ms is not None and row.at_ms < done_ms - run.finest_ms


# the time of delivery


def _time(message: Message, discard: Discard, row: TrackingRow, run: Run) -> Iterator[Case]:
    copy, forks = discard.copy, discard.forks
    said_ms = copy.delivered_at_ms
    if said_ms is None or not discard.is_complete or forks is None or forks.done_ms is None:
        return
    near_ms = exchange_ms(run) + run.finest_ms + copy.server.askew_ms
    known_ms = forks.done_ms if forks.known_ms is None else forks.known_ms
    fits = forks.done_ms - near_ms <= said_ms <= known_ms + near_ms
    if not fits and _was_held_up(discard, said_ms, forks.done_ms):
        return
    detail = (
        f"{copy.server.name} let it go as delivered at {stamp(said_ms)}; by the log of "
        f"{copy.primary_name} its last fork was done at {stamp(forks.done_ms)}"
    )
    yield Case(
        HOLDS if fits else VIOLATED, message.message_id, ("SN-2",), detail, row.at_ms,
        refs(row.ref, forks.done_ref), abs(said_ms - forks.done_ms),
        server=copy.server.name,
    )  # fmt: skip


def _was_held_up(discard: Discard, said_ms: int, done_ms: int) -> bool:
    """A row is written after the commit; a server that is paused in between writes it when it goes
    on.
    """
    primary = discard.copy.primary
    downs = primary.downs if primary else ()
    start_ms, end_ms = min(said_ms, done_ms), max(said_ms, done_ms)
    return touches((down.outage.possible for down in downs), start_ms, end_ms)


# the deadline


def _deadline(message: Message, discard: Discard, run: Run) -> Case:
    copy, forks, ended_ms = discard.copy, discard.forks, discard.ended_ms(run)
    status, detail = in_time(discard, run)
    first = copy.held or copy.shadow.claimed
    late_ms = ended_ms - (discard.reachable_ms or 0)
    return Case(
        status,
        message.message_id,
        tuple(_requirements(discard, status, run)),
        detail,
        ended_ms,
        refs(
            first.ref if first else None,
            forks.done_ref if forks else None,
            copy.discard.ref if copy.discard else None,
        ),
        weight=late_ms if copy.discard else late_ms + 1e12,
        server=copy.server.name,
    )


def _requirements(discard: Discard, status: Status, run: Run) -> Iterator[str]:
    yield from ("SM-2", "SM-3", "SM-4", "SM-19")
    copy, forks = discard.copy, discard.forks
    if forks is None or forks.done_ms is None:
        return
    span = (forks.done_ms, discard.ended_ms(run))
    downs = copy.primary.downs if copy.primary else ()
    if touches((down.outage.possible for down in downs if down.kind in _RESTARTS), *span):
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
    if discard_ms is not None and discard_ms <= discard.not_after_ms:
        return HOLDS, ""
    if discard_ms is None and copy.kept.in_safety_net:
        return HOLDS, ""
    known = stamp(discard.forks.known_ms if discard.forks else None)
    if discard.untold_ms is not None:
        asked = stamp(discard.untold_ms)
        ends = "never let it go" if discard_ms is None else f"let it go only at {stamp(discard_ms)}"
        detail = f"{server} asked {primary} at {asked}, after delivery at {known}, and {ends}"
    elif discard_ms is None:
        reached = stamp(discard.reachable_ms)
        detail = (
            f"{server} never let it go; delivered at {known}, both could be reached from {reached}"
        )
    else:
        due = stamp(discard.reachable_ms + heartbeat_ms)
        detail = f"{server} let it go at {stamp(discard_ms)}, due {due}"
    return VIOLATED, detail


CLAIM = Claim(
    "discard_after_delivery",
    ("SM-1", "SM-2", "SM-3", "SM-4", "SM-5", "SM-10", "SM-11", "SM-16", "SM-19", "SN-2"),
    needs=frozenset({TRACKING}),
    of_message=_cases,
)
