"""While a message was in the queues of its primary, which knew who held its shadow (SM-20).

Only what is long enough for three heartbeats is kept.
"""

from __future__ import annotations

from spark_eval.expected.mail.forks import forks_of
from spark_eval.expected.shadow.shadow_copies import Copy, exchange_ms
from spark_eval.histories.mail_of_pairs import HeldOfPair
from spark_eval.histories.primary import key_of
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.rows import TrackingRow

HEARTBEATS = 3
SINGLE_COPY = "single-copy"
# what says that a message was still there
_WAS_THERE = ("SEND", "DELIVER", "DUPLICATEDELIVER", "DEFER", "FAIL")


def silent_ms(run: Run) -> int:
    """For how long a shadow server may not ask."""
    return HEARTBEATS * run.config.heartbeat_ms


def queue(held: HeldOfPair, copy: Copy, run: Run) -> None:
    """Add what this copy shows."""
    if (spans := queued(copy, run)) is None:
        return
    sure, possible = spans
    if sure.hi - sure.lo >= silent_ms(run):
        held.queued.append(sure)
    if possible.hi - possible.lo >= silent_ms(run):
        held.may_be_queued.append(possible)


def queued(copy: Copy, run: Run) -> tuple[Interval, Interval] | None:
    """While its primary surely had it in a queue and knew of the shadow, and while it may have had;
    None where it says of none.
    """
    made = copy.shadow.claimed
    return None if made is None else (_sure(copy, made, run), _possible(copy, made, run))


def _sure(copy: Copy, made: TrackingRow, run: Run) -> Interval:
    """Until its primary said that the shadow is gone, at the most."""
    sure, rows = surely_queued(copy, made, run), rows_of(copy)
    gone = (row.at_ms for row in rows if row.outcome == SINGLE_COPY)
    return Interval(sure.lo, min([sure.hi, *gone]))


def surely_queued(copy: Copy, made: TrackingRow, run: Run) -> Interval:
    """From when it was durable, until the last row that its primary wrote of it."""
    key = copy.shadow.key.primary
    born = copy.message.primaries[key].born
    lo_ms = max(made.at_ms, born.at_ms if born else made.at_ms)
    hi_ms = max((r.at_ms for r in rows_of(copy) if r.event in _WAS_THERE), default=lo_ms)
    listed = any(
        (row.server, row.queue, row.internal_id) == (key.server, "delivery", key.internal_id)
        for row in copy.message.queued
    )
    if listed and run.end_ms is not None:
        hi_ms = max(hi_ms, run.end_ms)
    return Interval(lo_ms, hi_ms)


def rows_of(copy: Copy) -> list[TrackingRow]:
    """Of its primary, about the message that it is a copy of."""
    key = copy.shadow.key.primary
    return [row for row in copy.message.tracking if key_of(row) == key]


def _possible(copy: Copy, made: TrackingRow, run: Run) -> Interval:
    """A side effect keeps it there (SM-10)."""
    forks = forks_of(copy.message, run).get(copy.shadow.key.primary)
    is_over = forks is not None and forks.complete and len(copy.message.with_dsns) == 1
    hi_ms = forks.known_ms if forks is not None and is_over else None
    return Interval(made.at_ms, FOREVER_MS if hi_ms is None else hi_ms + exchange_ms(run))
