"""What a Primary Safety Net lacks of an interval, since its queue database is younger than the
start of it, and whom it is to ask for that (SN-9).

The head goes from the start to the moment at which that queue database was made, or to the end of
the interval if that is earlier. Each other server of the boundary is asked at once, for its shadow
messages of that server alone, under an id that names server and queue database.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from spark_eval.expected.safety_net.safety_net_requests import need_ms
from spark_eval.histories.organisation.active_copies import placed
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.rows import LifecycleRow

CREATED, REQUESTED = "database-created", "resubmit-requested"


class Head(NamedTuple):
    """Of the request that `server` took on by `request`; `other` is to be asked for it, and did
    take it on by `taken`. Dates are Unix epoch ms of `server`'s clock; `made_ms` within
    `vague_ms`.
    """

    server: Server
    request: LifecycleRow
    other: Server
    taken: LifecycleRow | None
    made_ms: int
    vague_ms: int
    due_ms: int
    is_excused: bool

    @property
    def wrong(self) -> str:
        """What of the interval that was asked for does not fit, or the empty text."""
        assert self.taken is not None
        start_ms, end_ms = _dated(self.taken.start), _dated(self.taken.end)
        of_ms, until_ms = _dated(self.request.start), _dated(self.request.end) or 0
        if start_ms != of_ms:
            return f"from {self.taken.start} on, not {self.request.start}"
        if end_ms is None or abs(end_ms - min(self.made_ms, until_ms)) > self.vague_ms:
            return f"to {self.taken.end}, not to when its queue database was made"
        return ""


def missing_heads(run: Run) -> Iterator[Head]:
    for request in run.said(REQUESTED):
        server = run.servers.get(request.server)
        if server is not None and request.safety_net == "primary":
            yield from _heads(request, server, run)


def _heads(request: LifecycleRow, server: Server, run: Run) -> Iterator[Head]:
    made = [
        row
        for row in run.said(CREATED)
        if row.server == server.name and (placed(row) or 0) <= (placed(request) or 0)
    ]
    last = max(made, key=lambda row: placed(row) or 0, default=None)
    made_ms, start_ms = _dated(last.date) if last else None, _dated(request.start)
    vague_ms = int(1000 * run.speed) + run.finest_ms
    if last is None or made_ms is None or start_ms is None or start_ms >= made_ms - vague_ms:
        return
    needs_ms = need_ms(server, run)
    for other in run.servers.values():
        if other.boundary == server.boundary and other.boundary and other.name != server.name:
            at_ms = request.at_ms or 0
            troubles = run.ways.troubles(server.name, other.name)
            request_id = f"{request.request_id}.{server.name}.{last.database_id}"
            in_the_way = touches((each.at for each in troubles), at_ms, at_ms + needs_ms)
            yield Head(
                server, request, other, _taken(other, request_id, run), made_ms, vague_ms,
                at_ms + needs_ms, in_the_way or not other.shows(at_ms, at_ms + needs_ms),
            )  # fmt: skip


def _taken(other: Server, request_id: str, run: Run) -> LifecycleRow | None:
    rows = (
        row
        for row in run.said(REQUESTED)
        if row.server == other.name and row.request_id == request_id and row.at_ms is not None
    )
    return min(rows, key=lambda row: (row.at_ms or 0, row.ref), default=None)


def _dated(text: str | None) -> int | None:
    if not text:
        return None
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return None
