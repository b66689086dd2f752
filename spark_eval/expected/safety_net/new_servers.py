"""Servers that came anew, and by when each of their copies was to be seeded (TP-8).

A new server asks the servers of the other copies in turn, and that of the active one sends all it
has. So the time counts from when both are there: since the new one runs and a copy elsewhere is
active, while no way between it and the others is in trouble.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.safety_net.log_shipping import late_ms, log_ways
from spark_eval.fault_kinds import NEW_SERVER
from spark_eval.histories.organisation.active_copies import ActiveCopies
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import first_clear
from spark_eval.read.rows import LifecycleRow


class NewCopy(NamedTuple):
    """The copy of `database` on a server of which a new one came: the old one's disk was gone at
    `lost_ms`, `until_ms` the next time or never. `rows`: what the new one said of the copy, in
    order.
    """

    server: Server
    database: str
    lost_ms: int
    until_ms: int | None
    rows: tuple[LifecycleRow, ...]

    def said(self, event: str) -> list[LifecycleRow]:
        return [row for row in self.rows if row.event == event]

    @property
    def since_ms(self) -> int:
        """Since the new server has said something of it; a hole lies before the old one's death."""
        return (self.rows[0].at_ms if self.rows else None) or self.lost_ms

    @property
    def seeded(self) -> LifecycleRow | None:
        """The first row by which the copy has everything."""
        return next(iter(self.said("copy-seeded-here")), None)


@lru_cache(maxsize=1)
def new_copies(run: Run) -> tuple[NewCopy, ...]:
    return tuple(_all(run))


def _all(run: Run) -> Iterator[NewCopy]:
    for fault in run.faults:
        server = run.servers.get(fault.server or "")
        lost_ms = fault.disk_lost_ms
        if server is None or lost_ms is None or fault.returns_with != NEW_SERVER:
            continue
        until_ms = next((each for each in server.disks_lost if each > lost_ms), None)
        for active in run.active_copies.values():
            if server.name in run.databases[active.database].copies:
                rows = tuple(_rows(server.name, active.database, lost_ms, until_ms, run))
                yield NewCopy(server, active.database, lost_ms, until_ms, rows)


def _rows(
    server: str, database: str, lost_ms: int, until_ms: int | None, run: Run
) -> Iterator[LifecycleRow]:
    for row in run.lifecycle:
        is_of_it = (row.server, row.database) == (server, database) and row.at_ms is not None
        if is_of_it and lost_ms <= (row.at_ms or 0) < (until_ms or (row.at_ms or 0) + 1):
            yield row


def due_ms(copy: NewCopy, run: Run) -> int | None:
    """By when it is seeded; None where nobody could do it."""
    since_ms = _since_ms(copy, run.active_copies[copy.database])
    if since_ms is None:
        return None
    others = [each for each in run.databases[copy.database].copies if each != copy.server.name]
    ways = [
        way
        for other in others
        for ends in ((copy.server.name, other), (other, copy.server.name))
        if (way := log_ways(run).get(ends)) is not None
    ]
    needs_ms = late_ms(copy.server, run) + len(others) * run.software.log_retry_ms
    moved = [each for way in ways for each in way.catching_up]
    return first_clear(since_ms, [*moved, *copy.server.away()], needs_ms) + needs_ms


def _since_ms(copy: NewCopy, active: ActiveCopies) -> int | None:
    """The new server runs, and the copy that was active last by then is another one's."""
    opened = copy.said("copy-opened")
    if not opened:
        return None
    opened_ms = opened[0].at_ms or 0
    found: int | None = None
    for each in active.copies:
        at_ms = 0 if each.mounted is None else each.mounted.at_ms or 0
        if at_ms <= opened_ms:
            found = None if each.server == copy.server.name else opened_ms
        elif found is None and each.server != copy.server.name:
            found = at_ms
    return found
