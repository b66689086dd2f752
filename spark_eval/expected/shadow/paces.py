"""When a server opens a session only to ask a primary server whose shadow messages it holds: a
heartbeat after it last asked (SM-2).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spark_eval.histories.mail_of_pairs import HeldOfPair
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.pairs import Begun, Pair, last_by
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import Interval, merged


@dataclass(frozen=True, slots=True)
class Paces:
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

    def due_ms(self, since_ms: int, heartbeat_ms: int, late_ms: int) -> int:
        """Of the first that did not come, where messages are held from `since_ms` on for ever."""
        while True:
            due_ms = since_ms + heartbeat_ms
            begun_ms = last_by(self.begun_ms, due_ms + late_ms)
            anew = (each.hi for each in self.anew if each.touches(since_ms, due_ms + late_ms))
            later_ms = max([begun_ms or 0, self.answered_ms(due_ms + late_ms), *anew])
            if later_ms <= since_ms:
                return due_ms
            since_ms = later_ms

    def span_was_over(self, start_ms: int, end_ms: int) -> bool:
        """Whether ShadowResubmitTimeSpan may have been over meanwhile: then it asks again."""
        over_ms = max((over for earliest, over in self.spans if earliest <= end_ms), default=None)
        if over_ms is None or over_ms < start_ms - self.near_ms:
            return False
        left_ms = last_by(self.left_ms, end_ms)
        return end_ms <= max(over_ms, left_ms or over_ms) + self.near_ms


def all_paces(run: Run) -> Iterator[Paces]:
    """Of servers whose logs can say it."""
    for name, peer in sorted({*run.pairs.names(), *run.mail_of_pairs.held}):
        server = run.servers.get(name)
        if server is not None and server.lives and server.slack_ms < run.config.heartbeat_ms:
            yield _paces(server, peer, run)


def _paces(server: Server, peer: str, run: Run) -> Paces:
    pair = run.pairs.between(server.name, peer)
    held = run.mail_of_pairs.held.get((server.name, peer), HeldOfPair())
    near_ms = server.askew_ms + server.slack_ms
    asked = (each.asked_ms or 0 for each in pair.questions.contacts)
    return Paces(
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
    yield from server.away()
    yield from server.holes
    for row in run.said("started"):
        if row.server == server.name and row.at_ms is not None:
            yield Interval(row.at_ms, row.at_ms)


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
