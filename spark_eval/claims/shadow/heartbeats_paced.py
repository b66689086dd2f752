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

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from spark_eval.cases.case import HOLDS, VIOLATED, Case, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.totals import Totals
from spark_eval.histories.mail_of_pairs import HeldOfPair
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.pairs import Begun, Pair, last_by
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import Interval, merged, touches
from spark_eval.read.plan import CONNECTIVITY


@dataclass(frozen=True, slots=True)
class _Paces:
    """Of a server and the primary server that it asks. In order of time: `contacts_ms`, and beside
    each `asked_ms`, when the last question was asked that was answered by then; `begun_ms`, when
    heartbeats were begun, by their sessions or by what says that they failed; `left_ms`, when a
    shadow message left its queue, its stay over. `spans`: when ShadowResubmitTimeSpan was over, at
    the earliest and at the latest; `held`: while shadow messages surely were; `anew`: what the
    server does not count from before, nor log meanwhile.
    """

    server: Server
    peer: str
    near_ms: int
    contacts_ms: Sequence[int]
    asked_ms: Sequence[int]
    left_ms: Sequence[int]
    spans: Sequence[tuple[int, int]]
    held: Sequence[Interval]
    begun: Sequence[Begun]
    begun_ms: Sequence[int]
    anew: Sequence[Interval]

    def answered_ms(self, by_ms: int) -> int:
        """When the last question was asked that was answered by then."""
        place = bisect_right(self.contacts_ms, by_ms)
        return self.asked_ms[place - 1] if place else 0


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for name, peer in sorted({*run.pairs.names(), *run.mail_of_pairs.held}):
        server = run.servers.get(name)
        if server is not None and server.lives and server.slack_ms < run.config.heartbeat_ms:
            paces = _paces(server, peer, run)
            for before, after in pairwise(run.pairs.between(name, peer).questions.begun):
                if _is_asked(paces, before, after, run):
                    yield _case(paces, before, after, run)
            for held in paces.held:
                yield _missing(paces, held, run)


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
        held=merged(held.proven),
        begun=pair.questions.begun,
        begun_ms=sorted(
            [each.at_ms for each in pair.questions.begun]
            + [each.asked_ms for each in pair.questions.failed if each.asked_ms is not None]
        ),
        anew=list(_anew(server, run)),
    )


def _anew(server: Server, run: Run) -> Iterator[Interval]:
    """While it was away or its disk full, while its log has a hole, and when it started."""
    yield from (down.outage.possible for down in server.downs)
    yield from server.holes
    for row in run.lifecycle:
        if (row.server, row.event) == (server.name, "started") and row.at_ms is not None:
            yield Interval(row.at_ms, row.at_ms)


def _case(paces: _Paces, before: Begun, after: Begun, run: Run) -> Case:
    server = paces.server
    due_ms = before.at_ms + run.config.heartbeat_ms
    detail = (
        f"{server.name} opened a session to {paces.peer} only to ask at {stamp(after.at_ms)}, "
        f"after one at {stamp(before.at_ms)}; not due before {stamp(due_ms)}"
    )
    return Case(
        VIOLATED if after.at_ms < due_ms - server.slack_ms else HOLDS,
        f"{server.name} and {paces.peer}", ("SM-2",), detail, after.at_ms,
        (before.ref, after.ref), due_ms - after.at_ms,
        server=server.name,
    )  # fmt: skip


def _missing(paces: _Paces, held: Interval, run: Run) -> Case:
    """The first heartbeat that was left out while shadow messages were held all the time."""
    server, late_ms = paces.server, paces.server.slack_ms + slack_ms(run)
    over_ms = min(held.hi, run.end_ms or 0)
    due_ms = _due_ms(paces, held.lo, run.config.heartbeat_ms, late_ms)
    is_left_out = due_ms + late_ms < over_ms
    detail = (
        f"{server.name} held shadow messages of {paces.peer} until {stamp(over_ms)} at least; it "
        f"opened no session only to ask by {stamp(due_ms)}"
    )
    before = [each.ref for each in paces.begun if each.at_ms <= due_ms][-1:]
    return Case(
        VIOLATED if is_left_out else HOLDS, f"{server.name} and {paces.peer}", ("SM-2",), detail,
        due_ms, refs(*before), over_ms - due_ms,
        server=server.name,
    )  # fmt: skip


def _due_ms(paces: _Paces, since_ms: int, heartbeat_ms: int, late_ms: int) -> int:
    """Of the first that did not come, where messages are held from `since_ms` on for ever."""
    while True:
        due_ms = since_ms + heartbeat_ms
        begun_ms = last_by(paces.begun_ms, due_ms + late_ms)
        anew = (each.hi for each in paces.anew if each.touches(since_ms, due_ms + late_ms))
        later_ms = max([begun_ms or 0, paces.answered_ms(due_ms + late_ms), *anew])
        if later_ms <= since_ms:
            return due_ms
        since_ms = later_ms


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


CLAIM = Claim("heartbeats_paced", ("SM-2",), needs=frozenset({CONNECTIVITY}), of_run=_cases)
