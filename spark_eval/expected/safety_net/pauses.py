"""When resubmissions waited, as their servers say: for back pressure, or for a long delivery queue
(SN-19, TL-8).

Whether they had to is for a claim. While one waits, or may wait, nothing of it is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.rows import LifecycleRow, grouped

PAUSED, RESUMED = "resubmit-paused", "resubmit-resumed"
PRESSURE, QUEUE = "back pressure", "delivery queue"
_GOES_ON = (
    PAUSED,
    RESUMED,
    "resubmit-taken-up",
    "resubmit-disabled",
    "resubmit-running",
    "resubmit-removed",
    "resubmit-completed",
)
# how long one that waits does not look again
LOOKS_AGAIN_MS = 10_000


class Pause(NamedTuple):
    """One row that says so, and the next one about that request; None: there is none."""

    server: str
    request_id: str
    begun: LifecycleRow
    over: LifecycleRow | None

    @property
    def at(self) -> Interval:
        over_ms = self.over.at_ms if self.over is not None else None
        return Interval(self.begun.at_ms or 0, FOREVER_MS if over_ms is None else over_ms)


@lru_cache(maxsize=1)
def pauses(run: Run) -> tuple[Pause, ...]:
    """Of all servers and requests."""
    if not run.said(PAUSED):
        return ()
    rows = (row for event in _GOES_ON for row in run.said(event) if row.at_ms is not None)
    by_request = grouped(rows, lambda row: (row.server, row.request_id or ""))
    return tuple(each for of, said in by_request.items() for each in _of_request(of, said))


def _of_request(of: tuple[str, str], said: Iterable[LifecycleRow]) -> Iterator[Pause]:
    ordered = sorted(said, key=lambda row: (row.at_ms or 0, row.ref))
    for place, row in enumerate(ordered):
        if row.event == PAUSED:
            yield Pause(*of, row, next(iter(ordered[place + 1 :]), None))


def may_wait(server: Server, run: Run) -> Iterator[Interval]:
    """While a resubmission of that server may have waited, and until it looks again."""
    for span in server.pressure:
        yield span.possible.longer(LOOKS_AGAIN_MS)
    for pause in pauses(run):
        if pause.server == server.name:
            yield pause.at.longer(server.slack_ms)
