"""heartbeats_paced: a server opens sessions only to ask every ShadowHeartbeatFrequency, not more
often, and not less while the one before hangs (SM-2).

Asks every session that was opened for a heartbeat after another one to the same primary server,
whatever became of that one. Sessions for mail are none of these. The time between two is known by
the asking server's log alone. One comes too late where a whole heartbeat was left out since the one
before, and since the last question that was answered, while shadow messages were surely held.

Not asked: the first after a restart, which asks at once; what a pause, a full disk or a hole of the
log lies between; the attempt that comes before a promotion, when ShadowResubmitTimeSpan is over
since a contact, or since a shadow message came that none followed, also where that fell into a hole
of the log; the same where the span was over already, when an older message leaves whose stay is
over. Where rows may be as late as a heartbeat is long, nothing is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from spark_eval.next.cases.case import HOLDS, VIOLATED, Case, Status
from spark_eval.next.cases.words import stamp
from spark_eval.next.claims.claim import Claim
from spark_eval.next.expected.totals import Totals
from spark_eval.next.histories.mail_of_pairs import HeldOfPair
from spark_eval.next.histories.pairs import Begun, Pair, last_by
from spark_eval.next.histories.run import Run
from spark_eval.next.histories.server import Server
from spark_eval.next.intervals.interval import Interval, merged, touches


@dataclass(frozen=True, slots=True)
class _Paces:
    """Of a server and the primary server that it asks. In order of time: `contacts_ms`, and beside
    each `asked_ms`, when the last question was asked that was answered by then; `left_ms`, when a
    shadow message left its queue, its stay over. `spans`: when ShadowResubmitTimeSpan was over, at
    the earliest and at the latest; `held`: while shadow messages surely were.
    """

    server: Server
    peer: str
    near_ms: int
    contacts_ms: Sequence[int]
    asked_ms: Sequence[int]
    left_ms: Sequence[int]
    spans: Sequence[tuple[int, int]]
    held: Sequence[Interval]

    def answered_ms(self, by_ms: int) -> int:
        """When the last question was asked that was answered by then."""
        place = bisect_right(self.contacts_ms, by_ms)
        return self.asked_ms[place - 1] if place else 0


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for name, peer in run.pairs.names():
        server = run.servers.get(name)
        if server is not None and server.lives and server.slack_ms < run.config.heartbeat_ms:
            paces = _paces(server, peer, run)
            for before, after in pairwise(run.pairs.between(name, peer).questions.begun):
                if _is_asked(paces, before, after, run):
                    yield _case(paces, before, after, run)


def _paces(server: Server, peer: str, run: Run) -> _Paces:
    pair = run.pairs.between(server.name, peer)
    held = run.mail_of_pairs.held.get((server.name, peer), HeldOfPair())
    near_ms = server.askew_ms + server.slack_ms
    asked = (each.asked_ms or 0 for each in pair.questions.contacts)
    return _Paces(
        server=server,
        peer=peer,
        near_ms=near_ms,
        contacts_ms=pair.contacts_ms,
        asked_ms=list(accumulate(asked, max)),
        left_ms=sorted(held.left),
        spans=[*_spans_of_contacts(pair, near_ms, run), *held.spans],
        held=merged(held.surely),
    )


def _case(paces: _Paces, before: Begun, after: Begun, run: Run) -> Case:
    server, heartbeat_ms = paces.server, run.config.heartbeat_ms
    due_ms = before.at_ms + heartbeat_ms
    since_ms = max(before.at_ms, paces.answered_ms(after.at_ms))
    opened = f"{server.name} opened a session to {paces.peer}"
    status: Status = HOLDS
    detail = ""
    if after.at_ms < due_ms - server.slack_ms:
        status = VIOLATED
        detail = (
            f"{opened} only to ask at {stamp(after.at_ms)}, after one at {stamp(before.at_ms)}; "
            f"not due before {stamp(due_ms)}"
        )
    elif after.at_ms - since_ms > 2 * heartbeat_ms + server.slack_ms and any(
        each.covers(before.at_ms, after.at_ms) for each in paces.held
    ):
        status = VIOLATED
        detail = (
            f"{opened} to ask at {stamp(after.at_ms)}, and held shadow messages of it; due by "
            f"{stamp(since_ms + heartbeat_ms)}"
        )
    return Case(
        status, f"{server.name} and {paces.peer}", ("SM-2",), detail, after.at_ms,
        (before.ref, after.ref), due_ms - after.at_ms,
    )  # fmt: skip


def _is_asked(paces: _Paces, before: Begun, after: Begun, run: Run) -> bool:
    server, start_ms, end_ms = paces.server, before.at_ms, after.at_ms
    if touches((down.outage.possible for down in server.downs), start_ms, end_ms):
        return False
    until_ms = end_ms + server.slack_ms
    if any(start_ms < life.lo_ms <= until_ms for life in server.lives):
        return False
    if not server.shows(start_ms, end_ms):
        return False
    near_ms, span_ms = paces.near_ms, run.config.span_ms
    if not server.shows(start_ms - span_ms - near_ms, end_ms - span_ms + near_ms):
        return False
    return not _span_was_over(paces, start_ms, end_ms)


def _span_was_over(paces: _Paces, start_ms: int, end_ms: int) -> bool:
    over_ms = max((over for earliest, over in paces.spans if earliest <= end_ms), default=None)
    if over_ms is None or over_ms < start_ms - paces.near_ms:
        return False
    left_ms = last_by(paces.left_ms, end_ms)
    return end_ms <= max(over_ms, left_ms or over_ms) + paces.near_ms


def _spans_of_contacts(pair: Pair, near_ms: int, run: Run) -> Iterator[tuple[int, int]]:
    """Of each contact that none followed for a span: when that was over, at the earliest and at the
    latest.
    """
    times, span_ms = pair.contacts_ms, run.config.span_ms
    for at_ms in times:
        place = bisect_right(times, at_ms)
        earliest_ms = at_ms + span_ms - near_ms
        if place == len(times) or times[place] >= earliest_ms:
            yield earliest_ms, at_ms + span_ms


CLAIM = Claim("heartbeats_paced", ("SM-2",), of_run=_cases)
