"""How many deliveries an active copy took, and how many messages its replication sessions to
another copy carried by when each had to be on its way (TP-4): by the logs of its server alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from spark_eval.expected.safety_net.log_shipping import LogWay, log_ways
from spark_eval.histories.deliveries import Delivered
from spark_eval.histories.run import Run
from spark_eval.histories.sessions import Session
from spark_eval.read.names import Ref

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
class Counts:
    """Since counting began at `since_ms`. `no_end_ms`: the last session whose end is unknown."""

    since_ms: int = 0
    taken: int = 0
    carried: int = 0
    ended: int = 0
    stood: int = 0
    started_ms: int = 0
    no_end_ms: int | None = None
    session: Ref | None = None

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

    @property
    def is_known(self) -> bool:
        """Whether the ends of all sessions since the start are in the log."""
        return self.no_end_ms is None or self.no_end_ms < self.started_ms


def carried(run: Run) -> Iterator[tuple[LogWay, str, Delivered, Counts]]:
    """Of each delivery, for each other copy: the way of its log, its database, and the counts then,
    which go on counting.
    """
    for way in log_ways(run).values():
        counts = Counts()
        for event in sorted(_events(way, run), key=lambda event: event[:3]):
            if event.what == BEGINS:
                counts.begin(event)
            elif event.what == STANDS:
                counts.stand(event)
            elif event.what == ENDED:
                counts.ended += event.carried or 0
            elif event.delivered is not None:
                counts.taken += 1
                yield way, event.database, event.delivered, counts


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
