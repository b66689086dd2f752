"""The way of logs from the server of an active copy to that of another one (TP-4).

A copy that was not reached for a while has as long again to catch up, and whoever waited for an
answer then ConnectionInactivityTimeOut besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.mail.calls import slack_ms
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.ways import REPLICATION, Trouble
from spark_eval.intervals.interval import Interval

# what exchanges of logs take, and how many refusals may come before them
EXCHANGE_MS, REFUSALS = 10_000, 2
_BEGIN = ("copy-seeded", "copy-passive")


class Begin(NamedTuple):
    """From when on deliveries and logs are counted; `is_start` of the process."""

    at_ms: int
    is_start: bool


class LogWay(NamedTuple):
    """From `server` to `peer`, which have copies of one database: `failed_ms`, when copies of
    theirs were given up; `late_ms`, how late a log may be.
    """

    server: Server
    peer: str
    begins: tuple[Begin, ...]
    failed_ms: tuple[int, ...]
    troubles: tuple[Trouble, ...]
    late_ms: int

    @property
    def catching_up(self) -> list[Interval]:
        timeout_ms = self.server.config.timeout_ms
        return [
            Interval(each.at.lo, 2 * each.at.hi - each.at.lo + (timeout_ms if each.hangs else 0))
            for each in self.troubles
        ]


@lru_cache(maxsize=1)
def log_ways(run: Run) -> dict[tuple[str, str], LogWay]:
    """By both ends."""
    return {
        (server, peer): _way(run.servers[server], peer, run)
        for database in run.databases.values()
        for server in database.copies
        for peer in database.copies
        if server != peer and server in run.servers
    }


def late_ms(server: Server, run: Run) -> int:
    """How late a log may be on its way, and the row that says so."""
    logs_ms = EXCHANGE_MS + REFUSALS * run.software.log_retry_ms
    return logs_ms + slack_ms(run) + server.slack_ms


def _way(server: Server, peer: str, run: Run) -> LogWay:
    shared = {
        each.name
        for each in run.databases.values()
        if server.name in each.copies and peer in each.copies
    }
    failed = tuple(
        row.at_ms
        for row in run.said("copy-failed")
        if row.database in shared and row.server in (server.name, peer) and row.at_ms is not None
    )
    troubles = run.ways.troubles(server.name, peer, REPLICATION)
    begins = tuple(_begins(server, peer, shared, run))
    return LogWay(server, peer, begins, failed, tuple(troubles), late_ms(server, run))


def _begins(server: Server, peer: str, shared: set[str], run: Run) -> Iterator[Begin]:
    for row in run.lifecycle:
        is_begin = (
            row.event == "database-mounted"
            or (row.event in _BEGIN and row.server == server.name)
            or (row.event == "copy-seeded-here" and row.server == peer)
        )
        if is_begin and row.database in shared and row.at_ms is not None:
            yield Begin(row.at_ms, is_start=False)
    # a session may stand before anybody saw that its server is back
    for away in server.away():
        yield Begin(away.hi, is_start=False)
    for life in server.lives:
        yield Begin(life.lo_ms, is_start=True)
