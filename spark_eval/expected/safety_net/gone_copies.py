"""Active copies whose server was away, and by when another one could be mounted (TP-6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.expected.safety_net.active_manager import is_permitted, managers, need_ms
from spark_eval.expected.safety_net.log_shipping import LogWay, log_ways
from spark_eval.fault_kinds import AWAY_KINDS
from spark_eval.histories.organisation.active_copies import ActiveCopies, ActiveCopy
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.ways import MANAGEMENT
from spark_eval.intervals.interval import Interval, first_clear


class Gone(NamedTuple):
    """The server of an active copy is away; `followed_ms`, when another copy was active."""

    active: ActiveCopies
    copy: ActiveCopy
    server: Server
    manager: Server
    possible: Interval
    certain: Interval
    followed_ms: int | None

    @property
    def decided(self) -> list[int]:
        """When Active Manager decided for another copy."""
        return [
            row.at_ms
            for row in self.active.decided
            if (row.epoch or 0) > self.copy.epoch
            and row.at_ms is not None
            and row.server == self.manager.name
        ]


def gone_copies(run: Run) -> Iterator[Gone]:
    for active in run.active_copies.values():
        for copy in active.copies:
            yield from _gone(active, copy, run)


def _gone(active: ActiveCopies, copy: ActiveCopy, run: Run) -> Iterator[Gone]:
    server = run.servers.get(copy.server)
    if server is None:
        return
    since_ms = (copy.mounted.at_ms or 0) if copy.mounted else 0
    later = [each.mounted for each in active.copies if each.epoch > copy.epoch and each.mounted]
    followed_ms = later[0].at_ms if later else None
    until_ms = (run.end_ms or 0) if followed_ms is None else followed_ms
    for manager in managers(server.dag, run):
        for down in server.downs:
            certain = down.outage.certain
            if down.kind not in AWAY_KINDS or certain is None:
                continue
            if since_ms <= certain.lo < until_ms:
                yield Gone(
                    active, copy, server, manager, down.outage.possible, certain, followed_ms
                )


def due_ms(gone: Gone, run: Run) -> int | None:
    """By when Active Manager can mount one of the copies that have not failed and do not lag;
    where it says that none may be mounted by itself, one of those that may.
    """
    database = gone.active.database
    ways = [
        way
        for name in run.databases[database].copies
        if (database, name) not in run.organisation.lagged
        and (way := log_ways(run).get((gone.server.name, name))) is not None
        and not way.failed_ms
    ]
    if _says_not(gone, run):
        recent = _recent(gone, ways, run)
        ways = [way for way in ways if _may_be_mounted(gone, way, recent, run)]
    return min((_ready_ms(gone, way, run) for way in ways), default=None)


def _says_not(gone: Gone, run: Run) -> bool:
    return any(
        row.database == gone.active.database
        and row.at_ms is not None
        and gone.certain.lo <= row.at_ms <= gone.certain.hi
        for row in run.said("failover-impossible")
    )


def _recent(gone: Gone, ways: list[LogWay], run: Run) -> int:
    """How many logs the copy that is gone had made since the last that others surely have."""
    late_ms = max((way.late_ms for way in ways), default=0)
    taken = run.delivered.get((gone.active.database, gone.server.name), ())
    return sum(
        each.is_new
        and each.epoch is not None
        and gone.certain.lo - late_ms <= each.at_ms <= gone.possible.hi
        for each in taken
    )


def _may_be_mounted(gone: Gone, way: LogWay, recent: int, run: Run) -> bool:
    """By the `recent` logs that it may lack, of which the mount is one, too."""
    copy = run.servers.get(way.peer)
    if copy is None or not is_permitted(copy, gone.server) or recent >= copy.mount_dial:
        return False
    at_ms = gone.possible.lo
    return not any(each.lo < at_ms <= each.hi + way.late_ms for each in way.catching_up)


def _ready_ms(gone: Gone, way: LogWay, run: Run) -> int:
    needs_ms = need_ms(gone.server, run)
    to_copy = run.ways.troubles(gone.manager.name, way.peer, MANAGEMENT)
    in_the_way = [*(each.at for each in to_copy), *gone.manager.away()]
    return first_clear(gone.certain.lo, in_the_way, needs_ms) + needs_ms
