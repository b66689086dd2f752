"""copies_follow: the logs of what an active copy took are soon on their way to each passive copy
(TP-4).

Asks every delivery into a database of several copies once for each other copy: by the time that an
exchange, a refusal or two before it, timers and rows take (`expected.log_shipping`), the server of
the active copy had replication sessions to the other server that carried, all together, as many
messages as there were deliveries. Both are counted from the last time at which counting can begin:
a mount, a seed, a start, and when the copy of that server became passive, since what it took beside
another one is thrown away. A session that stands by then counts with all that it carries until its
end. The logs of one server are compared, and what the other one took in is not asked: a message of
a session may be a log that was refused.

Not asked, besides: what one of those comes close after; while the way or one of its ends was in
trouble, and for as long again and ConnectionInactivityTimeOut after it, since what waited goes
first; a copy that failed; what a hole of the log lies between; what follows a session whose end is
not in the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from spark_eval.cases.case import HOLDS, VIOLATED, Case, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.log_shipping import LogWay, log_ways
from spark_eval.expected.totals import Totals
from spark_eval.histories.deliveries import Delivered
from spark_eval.histories.run import Run
from spark_eval.histories.sessions import Session
from spark_eval.intervals.interval import touches
from spark_eval.read.names import Ref
from spark_eval.read.plan import CONNECTIVITY, TRACKING

# at one moment, in this order: counting begins, a session stands, a delivery, a session ends
BEGINS, STANDS, TAKEN, ENDED = range(4)
NOWHERE = Ref("", 0)


class _Event(NamedTuple):
    """`carried`: of a session, how many messages, None where its end is not in the log."""

    at_ms: int
    what: int
    ref: Ref
    carried: int | None = None
    is_start: bool = False
    database: str = ""
    delivered: Delivered | None = None


@dataclass(slots=True)
class _Counts:
    """Since counting began at `since_ms`. `no_end_ms`: the last session whose end is unknown."""

    since_ms: int = 0
    taken: int = 0
    carried: int = 0
    ended: int = 0
    stood: int = 0
    started_ms: int = 0
    no_end_ms: int | None = None
    session: Ref | None = None
    standing: dict[Ref, int] = field(default_factory=dict)

    def begin(self, event: _Event) -> None:
        self.since_ms, self.taken = event.at_ms, 0
        # what stands already counts with all that it carries
        self.carried = self.stood - self.ended
        if event.is_start:
            self.started_ms = event.at_ms

    def stand(self, event: _Event) -> None:
        self.session = event.ref
        if event.carried is None:
            self.no_end_ms = event.at_ms
        self.stood += event.carried or 0
        self.carried += event.carried or 0


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for way in log_ways(run).values():
        counts = _Counts()
        for event in sorted(_events(way, run), key=lambda event: event[:3]):
            if event.what == BEGINS:
                counts.begin(event)
            elif event.what == STANDS:
                counts.stand(event)
            elif event.what == ENDED:
                counts.ended += event.carried or 0
            elif event.delivered is not None:
                counts.taken += 1
                yield from _case(way, event, event.delivered, counts, run)


def _events(way: LogWay, run: Run) -> Iterator[_Event]:
    for begin in way.begins:
        yield _Event(begin.at_ms, BEGINS, NOWHERE, is_start=begin.is_start)
    for server, session in run.sessions:
        opened = session.opened
        is_own = server == way.server.name and opened is not None and opened.peer == way.peer
        if is_own and session.purpose == "replication":
            yield from _of_session(session, way.late_ms)
    for (database, server), taken in run.delivered.items():
        if server == way.server.name and way.peer in run.databases[database].copies:
            for each in taken:
                if each.is_new and each.epoch is not None:
                    yield _Event(each.at_ms, TAKEN, each.ref, database=database, delivered=each)


def _of_session(session: Session, late_ms: int) -> Iterator[_Event]:
    """Placed so much before it stood as a log may be late."""
    opened, ended, stood = session.opened, session.ended, session.stood
    assert opened is not None
    if stood is None and ended is not None:
        return
    at_ms = (stood.at_ms if stood else opened.at_ms) - late_ms
    yield _Event(at_ms, STANDS, opened.ref, session.messages)
    if ended is not None:
        yield _Event(ended.at_ms, ENDED, ended.ref, session.messages)


def _case(
    way: LogWay, event: _Event, delivered: Delivered, counts: _Counts, run: Run
) -> Iterator[Case]:
    due_ms = delivered.at_ms + way.late_ms
    if not _is_asked(way, delivered, due_ms, counts, run):
        return
    detail = (
        f"{way.server.name} took it into {event.database} at {stamp(delivered.at_ms)}, delivery "
        f"{counts.taken} since {stamp(counts.since_ms)}; replication sessions to {way.peer} that "
        f"stood by {stamp(due_ms)} carried {counts.carried}"
    )
    yield Case(
        VIOLATED if counts.carried < counts.taken else HOLDS,
        f"{delivered.message_id} for {way.peer}",
        ("TP-4",),
        detail,
        delivered.at_ms,
        refs(delivered.ref, counts.session),
        weight=counts.taken - counts.carried,
        server=way.server.name,
    )


def _is_asked(way: LogWay, delivered: Delivered, due_ms: int, counts: _Counts, run: Run) -> bool:
    at_ms, since_ms = delivered.at_ms, counts.since_ms
    if not way.server.lives or run.end_ms is None or due_ms > run.end_ms:
        return False
    if any(at_ms < begin.at_ms <= due_ms for begin in way.begins):
        return False
    if any(since_ms <= failed_ms <= due_ms for failed_ms in way.failed_ms):
        return False
    if counts.no_end_ms is not None and counts.no_end_ms >= counts.started_ms:
        return False
    is_whole = way.server.shows(since_ms, due_ms)
    return is_whole and not touches(way.catching_up, at_ms, due_ms)


CLAIM = Claim("copies_follow", ("TP-4",), needs=frozenset({CONNECTIVITY, TRACKING}), of_run=_cases)
