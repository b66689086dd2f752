"""How long a copy of a mailbox database may take mail after another one was mounted (TP-4).

Its server may not know of the other copy yet. It surely does when Active Manager could reach both
servers for as long as it needs to notify them (`expected.safety_net_requests`), or the other copy
had logs to ship to it, and could, for as long. Faults alone prolong that; a word that says it knew
earlier ends it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.safety_net.safety_net_requests import Asking, askings, need_ms
from spark_eval.histories.organisation.active_copies import ActiveCopy, placed
from spark_eval.histories.run import Run
from spark_eval.histories.ways import REPLICATION
from spark_eval.intervals.interval import first_clear
from spark_eval.read.rows import LifecycleRow, grouped

STATES = ("database-mounted", "database-dismounted", "copy-passive", "copy-opened")
MOUNTED = "database-mounted"


class Reign(NamedTuple):
    """A copy that was active under `epoch`, and a later mount of another one, of which its server
    surely knew by `known_by_ms`.
    """

    database: str
    server: str
    epoch: int
    later: Asking
    known_by_ms: int


@lru_cache(maxsize=1)
def words(run: Run) -> dict[tuple[str, str], list[LifecycleRow]]:
    """What each server said of its copy, by database and server, in order. The last word counts:
    mounted, or not.
    """
    said = [row for row in run.lifecycle if row.database is not None and row.event in STATES]
    said.sort(key=lambda row: (placed(row) or 0, row.at_ms or 0, row.ref))
    return grouped(said, lambda row: (row.database or "", row.server))


@lru_cache(maxsize=1)
def reigns(run: Run) -> tuple[Reign, ...]:
    return tuple(
        _reign(copy, asking, run)
        for asking in askings(run)
        for copy in run.active_copies[asking.change.database].copies
        if copy.server == asking.server.name
        and asking.change.after.server != asking.server.name
        and asking.change.after.epoch > copy.epoch
    )


def _reign(copy: ActiveCopy, asking: Asking, run: Run) -> Reign:
    change = asking.change
    to = next(
        (
            each
            for each in askings(run)
            if each.change is change and each.server.name == change.after.server
        ),
        None,
    )
    away = (*asking.outages, *(to.outages if to else ()))
    needs_ms = need_ms(asking.server, run)
    known_by_ms = first_clear(change.mounted.at_ms or 0, away, needs_ms) + needs_ms
    took_ms = _took_ms(change.database, change.after, run)
    if took_ms is not None:
        sender = run.servers.get(change.after.server)
        timeout_ms = sender.config.timeout_ms if sender else 0
        ways = run.ways.troubles(change.after.server, copy.server, REPLICATION)
        late = [each.prolonged(timeout_ms) for each in ways]
        known_by_ms = min(known_by_ms, first_clear(took_ms, late, needs_ms) + needs_ms)
    return Reign(change.database, copy.server, copy.epoch, asking, known_by_ms)


def _took_ms(database: str, copy: ActiveCopy, run: Run) -> int | None:
    """When a copy took its first mail under its epoch, and so had logs to ship."""
    taken = run.delivered.get((database, copy.server), ())
    return min((each.at_ms for each in taken if each.epoch == copy.epoch), default=None)
