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
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.ways import Trouble
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.operation_kinds import Redirection as Keys
from spark_eval.read.rows import LifecycleRow, TrackingRow

HOP = "redirect:"
REFUSAL = "451 4.3.2 Service not active"
BEGUN = "redirection-begun"
COMPLETED, GIVEN_UP = "redirection-completed", "redirection-given-up"


class Redirection(NamedTuple):
    """Of what `server` had to `to`: surely under way in `certain`, if ever, and perhaps in
    `possible`; what is on its way at the end may arrive for `rest_ms` more. `agreed`: it said 250
    when it was `asked`; `begun`, `over`: its own words.
    """

    operation: str
    server: Server
    to: str
    asked: Interval
    agreed: bool
    begun: LifecycleRow | None
    over: LifecycleRow | None
    certain: Interval
    possible: Interval
    rest_ms: int

    @property
    def is_completed(self) -> bool:
        return self.over is not None and self.over.event == COMPLETED


@lru_cache(maxsize=1)
def redirections(run: Run) -> tuple[Redirection, ...]:
    """Those that may have been, in the order of the plan."""
    return tuple(
        each
        for each in requested(run)
        if each.begun or (each.agreed and not each.server.shows(*each.asked))
    )


@lru_cache(maxsize=1)
def requested(run: Run) -> tuple[Redirection, ...]:
    """All that servers were asked for."""
    return tuple(_all(run)) if run.planned_operations else ()


def _all(run: Run) -> Iterator[Redirection]:
    for each in operations(run):
        keys, asked = each.planned.keys, each.asked
        server = run.servers.get(getattr(keys, "server", None) or "")
        if not isinstance(keys, Keys) or asked is None or server is None or keys.to is None:
            continue
        slack_ms = server.slack_ms + run.finest_ms
        near = Interval(asked.lo - slack_ms, asked.hi + slack_ms)
        begun = _first(run, server, keys.to, (BEGUN,), near)
        begun_ms = asked.hi if begun is None else begun.at_ms or 0
        over = _first(run, server, keys.to, (COMPLETED, GIVEN_UP), Interval(begun_ms, FOREVER_MS))
        said_ms = None if over is None else over.at_ms
        lives = [life.lo_ms for life in server.lives if life.lo_ms > begun_ms]
        over_ms = min((*([] if said_ms is None else [said_ms]), *lives), default=FOREVER_MS)
        surely = Interval(begun_ms + slack_ms, (said_ms or begun_ms) - slack_ms)
        yield Redirection(
            each.id,
            server,
            keys.to,
            near,
            bool(each.took_effect),
            begun,
            over,
            surely,
            Interval(near.lo, over_ms + slack_ms),
            server.config.session_ms + server.config.timeout_ms,
        )


def _first(
    run: Run, server: Server, to: str, events: tuple[str, ...], within: Interval
) -> LifecycleRow | None:
    """The first row of that by which a server speaks of its redirection to another one."""
    rows = (
        row
        for row in run.lifecycle
        if (row.server, row.peer) == (server.name, to)
        and row.event in events
        and row.at_ms is not None
        and within.touches(row.at_ms, row.at_ms)
    )
    return min(rows, key=lambda row: row.at_ms or 0, default=None)


def is_redirected(row: TrackingRow) -> bool:
    """Whether its server says that it sent the message where an administrator had it go."""
    return (row.fork or "").startswith(HOP)


def redirection_of(row: TrackingRow, run: Run) -> Redirection | None:
    """The one by which a SEND or DEFER that says so is right."""
    to = (row.fork or "").removeprefix(HOP)
    found = (
        each
        for each in redirections(run)
        if (each.server.name, each.to) == (row.server, to)
        and (row.event != "SEND" or row.peer == to)
        and each.possible.longer(each.rest_ms).touches(row.at_ms, row.at_ms)
    )
    return next(found, None) if is_redirected(row) else None


def may_redirect(server: str, run: Run, start_ms: int | None, end_ms: int | None) -> bool:
    """Whether it may have had its messages redirected at some time of that: it takes none then."""
    return any(
        each.server.name == server and each.possible.touches(start_ms or 0, end_ms or FOREVER_MS)
        for each in redirections(run)
    )


def surely_redirects(server: str, run: Run, start_ms: int, end_ms: int) -> bool:
    """Whether it had its messages redirected all of that time."""
    return any(
        each.server.name == server and each.certain.covers(start_ms, end_ms)
        for each in redirections(run)
    )


def troubles(server: str, run: Run) -> Iterator[Trouble]:
    """What redirections of a server put in the way of its own mail: each that is not taken, and
    whatever is in the way of the server that is to take it, which makes it redundant anew.
    """
    for each in redirections(run):
        if each.server.name == server:
            lo_ms, hi_ms = each.possible.lo, each.possible.hi + each.rest_ms
            for trouble in in_the_way(each, run):
                if trouble.prolonged(each.rest_ms).touches(lo_ms, hi_ms):
                    yield Trouble(trouble.at, hangs=True)


def in_the_way(redirection: Redirection, run: Run) -> Iterator[Trouble]:
    """Of the server that is to take the messages: on the way to it and between it and those that
    may hold its shadow messages, at any time; and while it may have its own redirected.
    """
    server, to = redirection.server.name, redirection.to
    taker = run.servers.get(to)
    holders = run.routing.members(taker.boundary or "") if taker else ()
    for way in ((server, to), *((to, holder) for holder in holders)):
        yield from run.ways.troubles(*way)
    for each in redirections(run):
        if each.server.name == to:
            yield Trouble(each.possible, hangs=True)


def refusals(place: str, run: Run) -> Iterator[Trouble]:
    """While a server that mail may go to takes none, since it has its own redirected. `place`: a
    next hop.
    """
    members = run.routing.members(place)
    for each in redirections(run):
        if each.server.name in members:
            yield Trouble(each.possible, hangs=True)
