"""heartbeats_paced: a server opens sessions only to ask every ShadowHeartbeatFrequency, not more
often, and not less while the one before hangs (SM-2).

Asks every session that was opened for a heartbeat after another one to the same primary server,
whatever became of that one. Sessions for mail are none of these. The time between two is known by
the asking server's log alone. And asks all the time that a server held shadow messages of another
one, whether that can be reached or not: ShadowHeartbeatFrequency after the one before, or after the
last question that was answered, or since the server started or has the first of them, the next one
is opened.

Not asked: whether the first after a restart, which asks at once, is too early; what a pause, a full
disk or a hole of the log lies between; and, too early, the attempt that comes before a promotion,
when ShadowResubmitTimeSpan is over since a contact, or since a shadow message came that none
followed, also where that fell into a hole of the log; the same where the span was over already,
when an older message leaves whose stay is over. Where rows may be as late as a heartbeat is long,
nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.shadow.paces import Paces, all_paces
from spark_eval.expected.totals import Totals
from spark_eval.histories.pairs import Begun
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import Interval, touches
from spark_eval.read.plan import CONNECTIVITY


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for paces in all_paces(run):
        for before, after in pairwise(paces.begun):
            yield from _early(paces, before, after, run)
        for held in paces.held:
            yield from _missing(paces, held, run)


def _early(paces: Paces, before: Begun, after: Begun, run: Run) -> Iterator[Case]:
    server, due_ms = paces.server, before.at_ms + run.config.heartbeat_ms
    if _is_asked(paces, before.at_ms, after.at_ms, run.config.span_ms):
        detail = (
            f"{server.name} opened a session to {paces.peer} only to ask at {stamp(after.at_ms)}, "
            f"after one at {stamp(before.at_ms)}; not due before {stamp(due_ms)}"
        )
        yield from asked(
            bound(after.at_ms, due_ms - server.slack_ms, None), f"{server.name} and {paces.peer}",
            ("SM-2",), detail, after.at_ms, before, after, weight=due_ms - after.at_ms,
            server=server.name,
        )  # fmt: skip


def _is_asked(paces: Paces, start_ms: int, end_ms: int, span_ms: int) -> bool:
    server, near_ms = paces.server, paces.near_ms
    starts = any(start_ms < life.lo_ms <= end_ms + server.slack_ms for life in server.lives)
    return (
        not touches(server.away(), start_ms, end_ms)
        and not starts
        and server.shows(start_ms, end_ms)
        and server.shows(start_ms - span_ms - near_ms, end_ms - span_ms + near_ms)
        and not paces.span_was_over(start_ms, end_ms)
    )


def _missing(paces: Paces, held: Interval, run: Run) -> Iterator[Case]:
    """The first heartbeat that was left out while shadow messages were held all the time."""
    server, late_ms = paces.server, paces.server.slack_ms + slack_ms(run)
    over_ms = min(held.hi, run.end_ms or 0)
    due_ms = paces.due_ms(held.lo, run.config.heartbeat_ms, late_ms)
    detail = (
        f"{server.name} held shadow messages of {paces.peer} until {stamp(over_ms)} at least; it "
        f"opened no session only to ask by {stamp(due_ms)}"
    )
    before = [each.ref for each in paces.begun if each.at_ms <= due_ms][-1:]
    yield from asked(
        bound(over_ms, None, due_ms + late_ms), f"{server.name} and {paces.peer}", ("SM-2",),
        detail, due_ms, *before, weight=over_ms - due_ms, server=server.name,
    )  # fmt: skip


CLAIM = Claim("heartbeats_paced", ("SM-2",), needs=frozenset({CONNECTIVITY}), of_run=_cases)
