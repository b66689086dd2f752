"""heartbeats_paced: no server opens sessions only to ask more often than every
ShadowHeartbeatFrequency (SM-2).

Asks every session that was opened for a heartbeat after another one to the same primary server,
whatever became of that one. Sessions for mail are none of these, nor is a question in a session
that was open already: that opens nothing. The time between two is known by the asking server's log
alone.

Not asked: the first after a restart, which asks at once; what a pause, a full disk or a hole of the
log lies between; the attempt that comes before a promotion, when ShadowResubmitTimeSpan is over
since a contact, or since a shadow message came that none followed, also where that fell into a hole
of the log; the same where the span was over already, when an older message leaves whose stay is
over; what follows one that waited for a session. One may have waited that opened when another
session to the same server ended, where as many stood as MaxPerDomainOutboundConnections permits.
Where rows may be as late as a heartbeat is long, nothing is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from spark_eval.intervals.interval import touches
from spark_eval.next.cases.case import HOLDS, VIOLATED, Case, Status
from spark_eval.next.cases.words import stamp
from spark_eval.next.claims.claim import Claim
from spark_eval.next.expected.totals import Totals
from spark_eval.next.histories.pairs import HEARTBEAT, last_by
from spark_eval.next.histories.run import Run
from spark_eval.next.histories.server import Server
from spark_eval.next.histories.sessions import OPENED, is_end
from spark_eval.next.read.names import Ref
from spark_eval.next.read.rows import ConnectivityRow

# rows of one input stand closer together than this
TOGETHER_MS = 1_000


class _Heartbeat(NamedTuple):
    """A session that was opened for one; `waited`: it may have waited for another one to end."""

    at_ms: int
    ref: Ref
    waited: bool


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for server in run.servers.values():
        rows = run.connectivity.get(server.name, ())
        if server.lives and server.slack_ms < run.config.heartbeat_ms and rows:
            for peer, opened in _heartbeats(server, rows).items():
                for before, after in pairwise(opened):
                    yield from _case(server, peer, before, after, run)


def _heartbeats(server: Server, rows: tuple[ConnectivityRow, ...]) -> dict[str, list[_Heartbeat]]:
    """By the server that they are opened to. What a session is opened for may name a queue instead
    of the peer, so those to other peers count too.
    """
    begun = sorted(row.at_ms for row in rows if row.way == OPENED)
    ended = sorted(row.at_ms for row in rows if is_end(row))
    last_ended: dict[str, int] = {}
    found: dict[str, list[_Heartbeat]] = {}
    for row in sorted(rows, key=lambda row: (row.at_ms, row.ref)):
        peer = row.peer or ""
        if is_end(row):
            last_ended[peer] = row.at_ms
        elif row.way == OPENED and row.said == HEARTBEAT:
            standing = (
                bisect_right(begun, row.at_ms) - 1 - bisect_right(ended, row.at_ms - TOGETHER_MS)
            )
            just_ended = row.at_ms - last_ended.get(peer, -TOGETHER_MS) < TOGETHER_MS
            waited = just_ended and standing >= server.config.connections
            found.setdefault(peer, []).append(_Heartbeat(row.at_ms, row.ref, waited))
    return found


def _case(
    server: Server, peer: str, before: _Heartbeat, after: _Heartbeat, run: Run
) -> Iterator[Case]:
    if not _is_asked(server, peer, before, after, run):
        return
    due_ms = before.at_ms + run.config.heartbeat_ms
    status: Status = VIOLATED if after.at_ms < due_ms - server.slack_ms else HOLDS
    detail = (
        f"{server.name} opened a session to {peer} only to ask at {stamp(after.at_ms)}, after one "
        f"at {stamp(before.at_ms)}; not due before {stamp(due_ms)}"
    )
    yield Case(
        status, f"{server.name} and {peer}", ("SM-2",), detail, after.at_ms,
        (before.ref, after.ref), due_ms - after.at_ms,
    )  # fmt: skip


def _is_asked(server: Server, peer: str, before: _Heartbeat, after: _Heartbeat, run: Run) -> bool:
    start_ms, end_ms = before.at_ms, after.at_ms
    if touches((down.outage.possible for down in server.downs), start_ms, end_ms):
        return False
    until_ms = end_ms + server.slack_ms
    if any(start_ms < life.lo_ms <= until_ms for life in server.lives):
        return False
    if not server.shows(start_ms, end_ms) or before.waited:
        return False
    near_ms, span_ms = server.askew_ms + server.slack_ms, run.config.span_ms
    if not server.shows(start_ms - span_ms - near_ms, end_ms - span_ms + near_ms):
        return False
    return not _span_was_over(server, peer, before, after, near_ms, run)


def _span_was_over(
    server: Server, peer: str, before: _Heartbeat, after: _Heartbeat, near_ms: int, run: Run
) -> bool:
    held = run.mail_of_pairs.held.get((server.name, peer))
    spans = [*_spans_of_contacts(server, peer, near_ms, run), *(held.spans if held else ())]
    over_ms = max((over for earliest, over in spans if earliest <= after.at_ms), default=None)
    if over_ms is None or over_ms < before.at_ms - near_ms:
        return False
    left_ms = last_by(sorted(held.left) if held else [], after.at_ms)
    latest_ms = max(over_ms, left_ms or over_ms)
    return after.at_ms <= latest_ms + near_ms or after.waited


def _spans_of_contacts(
    server: Server, peer: str, near_ms: int, run: Run
) -> Iterator[tuple[int, int]]:
    """Of each contact that none followed for a span: when that was over, at the earliest and at the
    latest.
    """
    times = [*run.pairs.between(server.name, peer).contacts_ms]
    span_ms = run.config.span_ms
    for at_ms in times:
        place = bisect_right(times, at_ms)
        earliest_ms = at_ms + span_ms - near_ms
        if place == len(times) or times[place] >= earliest_ms:
            yield earliest_ms, at_ms + span_ms


CLAIM = Claim("heartbeats_paced", ("SM-2",), of_run=_cases)
