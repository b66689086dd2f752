"""failover_on_time: a mailbox database whose active copy is gone fails over as soon as Active
Manager can see that (TP-6).

Asks each time that a fault surely took the server of an active copy away, for longer than

    as many questions without an answer as make a copy silent, each awaited, and one more
    (`settings.software` of the plan, `expected.active_manager`)
    + two exchanges of a wall second each, in lab time
    + five times the clock's resolution (host.json), and how far clocks are apart

from then on, or from when on Active Manager was there and could reach another copy of the database
all that time: by then it has decided for another copy, or one was mounted.

Not asked: while an earlier failover of the database is under way; where the other copies have
failed; or where Active Manager says that none may be mounted by itself, and each that it can reach
is not to be (DatabaseCopyAutoActivationPolicy), or may lack more logs than AutoDatabaseMountDial
allows: the way of logs to it was in trouble, and for as long again and ConnectionInactivityTimeOut
after that, or so many were made since the last that it surely has (`copies_follow`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.cases.case import HOLDS, VIOLATED, Case, Status, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.active_manager import is_permitted, managers, need_ms
from spark_eval.expected.safety_net.log_shipping import LogWay, log_ways
from spark_eval.expected.totals import Totals
from spark_eval.fault_kinds import AWAY_KINDS
from spark_eval.histories.organisation.active_copies import ActiveCopies, ActiveCopy
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.ways import MANAGEMENT
from spark_eval.intervals.interval import Interval, first_clear
from spark_eval.read.plan import LIFECYCLE


class _Gone(NamedTuple):
    """The server of an active copy is away; `followed_ms`, when another copy was active."""

    active: ActiveCopies
    copy: ActiveCopy
    server: Server
    manager: Server
    possible: Interval
    certain: Interval
    followed_ms: int | None


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for active in run.active_copies.values():
        for copy in active.copies:
            for gone in _gone(active, copy, run):
                yield from _case(gone, run)


def _gone(active: ActiveCopies, copy: ActiveCopy, run: Run) -> Iterator[_Gone]:
    server = run.servers.get(copy.server)
    if server is None:
        return
    since_ms = (copy.mounted.at_ms or 0) if copy.mounted else 0
    later = [each.mounted for each in active.copies if each.epoch > copy.epoch and each.mounted]
    followed_ms = later[0].at_ms if later else None
    until_ms = (run.end_ms or 0) if followed_ms is None else followed_ms
    for manager in managers(run):
        for down in server.downs:
            certain = down.outage.certain
            is_away = down.kind in AWAY_KINDS and manager.dag == server.dag
            if is_away and certain is not None and since_ms <= certain.lo < until_ms:
                yield _Gone(
                    active, copy, server, manager, down.outage.possible, certain, followed_ms
                )


def _case(gone: _Gone, run: Run) -> Iterator[Case]:
    due_ms = _due_ms(gone, run)
    if due_ms is None or due_ms > min(gone.certain.hi, run.end_ms or 0):
        return
    decided = [
        row.at_ms
        for row in gone.active.decided
        if (row.epoch or 0) > gone.copy.epoch and row.at_ms is not None
    ]
    start_ms = gone.certain.lo
    if any(at_ms < start_ms for at_ms in decided):
        return
    times = [*decided, *([gone.followed_ms] if gone.followed_ms is not None else [])]
    status: Status = HOLDS
    if not any(start_ms <= at_ms <= due_ms for at_ms in times):
        if not gone.manager.shows(start_ms, due_ms):
            return
        status = VIOLATED
    detail = (
        f"{gone.server.name} had the active copy of {gone.active.database} and was away from "
        f"{stamp(start_ms)} on; {gone.manager.name} decided for no other one by {stamp(due_ms)}"
    )
    mounted = gone.copy.mounted
    yield Case(
        status, f"{gone.active.database} on {gone.server.name}", ("TP-6",), detail, due_ms,
        refs(mounted.ref if mounted else None),
    )  # fmt: skip


def _due_ms(gone: _Gone, run: Run) -> int | None:
    """By when Active Manager can mount one of the copies that have not failed; where it says that
    none may be mounted by itself, one of those that may.
    """
    ways = [
        way
        for name in run.databases[gone.active.database].copies
        if (way := log_ways(run).get((gone.server.name, name))) is not None and not way.failed_ms
    ]
    if _says_not(gone, run):
        recent = _recent(gone, ways, run)
        ways = [way for way in ways if _may_be_mounted(gone, way, recent, run)]
    return min((_ready_ms(gone, way, run) for way in ways), default=None)


def _says_not(gone: _Gone, run: Run) -> bool:
    return any(
        row.event == "failover-impossible"
        and row.database == gone.active.database
        and row.at_ms is not None
        and gone.certain.lo <= row.at_ms <= gone.certain.hi
        for row in run.lifecycle
    )


def _recent(gone: _Gone, ways: list[LogWay], run: Run) -> int:
    """How many logs the copy that is gone had made since the last that others surely have."""
    late_ms = max((way.late_ms for way in ways), default=0)
    taken = run.delivered.get((gone.active.database, gone.server.name), ())
    return sum(
        each.is_new
        and each.epoch is not None
        and gone.certain.lo - late_ms <= each.at_ms <= gone.possible.hi
        for each in taken
    )


def _may_be_mounted(gone: _Gone, way: LogWay, recent: int, run: Run) -> bool:
    """By the `recent` logs that it may lack, of which the mount is one, too."""
    copy = run.servers.get(way.peer)
    if copy is None or not is_permitted(copy, gone.server) or recent >= copy.mount_dial:
        return False
    at_ms = gone.possible.lo
    return not any(each.lo < at_ms <= each.hi + way.late_ms for each in way.catching_up)


def _ready_ms(gone: _Gone, way: LogWay, run: Run) -> int:
    needs_ms = need_ms(gone.server, run)
    to_copy = run.ways.troubles(gone.manager.name, way.peer, MANAGEMENT)
    downs = [down.outage.possible for down in gone.manager.downs]
    in_the_way = [*(each.at for each in to_copy), *downs]
    return first_clear(gone.certain.lo, in_the_way, needs_ms) + needs_ms


CLAIM = Claim("failover_on_time", ("TP-6",), needs=frozenset({LIFECYCLE}), of_run=_cases)
