"""Redirections: from when to when a server had its delivery queues drained to another one, since an
administrator asked for it (SR-1, SR-12).

The plan and its answers say who was asked, the server's lifecycle log when it began and was over;
where that log does not say the end, its process did not live to see it. Mail that another server
took is answered for by that server from then on, whatever the way of its recipients was.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.safety_net.operations import operations
from spark_eval.histories.run import Run
from spark_eval.histories.ways import Trouble
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.operation_kinds import Redirection as Keys
from spark_eval.read.rows import TrackingRow

HOP = "redirect:"
REFUSAL = "451 4.3.2 Service not active"
_BEGUN, _OVER = "redirection-begun", ("redirection-completed", "redirection-given-up")


class Redirection(NamedTuple):
    """Of what `server` had to `to`: surely under way in `certain`, if ever, and perhaps in
    `possible`; what is on its way at the end may arrive for `rest_ms` more.
    """

    server: str
    to: str
    certain: Interval
    possible: Interval
    rest_ms: int


@lru_cache(maxsize=1)
def redirections(run: Run) -> tuple[Redirection, ...]:
    """In the order of the plan."""
    return tuple(_all(run)) if run.planned_operations else ()


def _all(run: Run) -> Iterator[Redirection]:
    for each in operations(run):
        keys, asked = each.planned.keys, each.asked
        server = run.servers.get(getattr(keys, "server", None) or "")
        if not isinstance(keys, Keys) or asked is None or server is None or keys.to is None:
            continue
        slack_ms = server.slack_ms + run.finest_ms
        rows = [
            (row.at_ms, row.event)
            for row in run.lifecycle
            if (row.server, row.peer) == (server.name, keys.to) and row.at_ms is not None
        ]
        begun = [at for at, event in rows if event == _BEGUN and at >= asked.lo - slack_ms]
        begun_ms = min((at for at in begun if at <= asked.hi + slack_ms), default=None)
        if begun_ms is None and (not each.took_effect or server.shows(*asked)):
            continue
        since_ms = asked.hi if begun_ms is None else begun_ms
        over = [at for at, event in rows if event in _OVER and at >= since_ms]
        lives = [life.lo_ms for life in server.lives if life.lo_ms > since_ms]
        over_ms = min((*over, *lives), default=FOREVER_MS)
        surely = Interval(since_ms + slack_ms, min(over, default=since_ms) - slack_ms)
        possible = Interval(asked.lo - slack_ms, over_ms + slack_ms)
        rest_ms = server.config.session_ms + server.config.timeout_ms
        yield Redirection(server.name, keys.to, surely, possible, rest_ms)


def is_redirected(row: TrackingRow) -> bool:
    """Whether its server says that it sent the message where an administrator had it go."""
    return (row.fork or "").startswith(HOP)


def redirection_of(row: TrackingRow, run: Run) -> Redirection | None:
    """The one by which a SEND or DEFER that says so is right."""
    to = (row.fork or "").removeprefix(HOP)
    found = (
        each
        for each in redirections(run)
        if (each.server, each.to) == (row.server, to)
        and (row.event != "SEND" or row.peer == to)
        and each.possible.longer(each.rest_ms).touches(row.at_ms, row.at_ms)
    )
    return next(found, None) if is_redirected(row) else None


def may_redirect(server: str, run: Run, start_ms: int | None, end_ms: int | None) -> bool:
    """Whether it may have had its messages redirected at some time of that: it takes none then."""
    return any(
        each.server == server and each.possible.touches(start_ms or 0, end_ms or FOREVER_MS)
        for each in redirections(run)
    )


def surely_redirects(server: str, run: Run, start_ms: int, end_ms: int) -> bool:
    """Whether it had its messages redirected all of that time."""
    return any(
        each.server == server and each.certain.covers(start_ms, end_ms)
        for each in redirections(run)
    )


def troubles(server: str, run: Run) -> Iterator[Trouble]:
    """What redirections of a server put in the way of its own mail: each that is not taken, and
    whatever is in the way of the server that is to take it, which makes it redundant anew.
    """
    for each in redirections(run):
        taker = run.servers.get(each.to)
        if each.server == server and taker is not None:
            lo_ms, hi_ms = each.possible.lo, each.possible.hi + each.rest_ms
            holders = run.routing.members(taker.boundary or "")
            for way in ((server, each.to), *((each.to, holder) for holder in holders)):
                for trouble in run.ways.troubles(*way):
                    if trouble.prolonged(each.rest_ms).touches(lo_ms, hi_ms):
                        yield Trouble(trouble.at, hangs=True)
            if may_redirect(each.to, run, lo_ms, hi_ms):
                yield Trouble(each.possible, hangs=True)


def refusals(place: str, run: Run) -> Iterator[Trouble]:
    """While a server that mail may go to takes none, since it has its own redirected. `place`: a
    next hop.
    """
    members = run.routing.members(place)
    for each in redirections(run):
        if each.server in members:
            yield Trouble(each.possible, hangs=True)
