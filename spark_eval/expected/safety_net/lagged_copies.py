"""What a lagged copy has: the logs that its active one had made by a moment (TP-4, SN-5, SN-20).

A passive one stands ReplayLagTime behind. One that is activated has what it had replayed, or, at a
point in time, what the database had then. `Stood` says how many logs it had, and the times that
bound how many those should be: by `surely_ms` they had surely come and were replayed, none after
`at_most_ms` was.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.cases.words import stamp
from spark_eval.expected.safety_net.log_shipping import late_ms, log_ways
from spark_eval.expected.safety_net.logs_made import last_log_by
from spark_eval.expected.safety_net.operations import Operation, operations
from spark_eval.histories.organisation.active_copies import Change
from spark_eval.histories.organisation.server import UNLOGGED_WALL_MS, Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import Interval, touches
from spark_eval.read.names import Ref
from spark_eval.read.operation_kinds import LaggedActivation
from spark_eval.read.rows import CopyRow


class Stood(NamedTuple):
    """A lagged copy at `at_ms`, with `had` logs of the branch of `epoch`; `before_ms` where it was
    to be as of a point in time.
    """

    database: str
    server: Server
    lag_ms: int
    epoch: int
    at_ms: int
    had: int
    surely_ms: int
    at_most_ms: int
    before_ms: int | None
    source: str
    row: CopyRow | Ref | None

    def bounds(self, run: Run) -> tuple[int | None, int | None]:
        """The least and the most that it should have had; None where the record does not say."""
        lo = last_log_by(self.database, self.epoch, self.surely_ms, run)
        hi = last_log_by(self.database, self.epoch, self.at_most_ms, run)
        seeds = [
            row.last_log or 0
            for row in run.active_copies[self.database].seeded
            if row.server == self.server.name and (row.at_ms or 0) <= self.at_ms
        ]
        return lo, None if hi is None else max([hi, *seeds])

    def is_excused(self, run: Run) -> bool:
        """Whether some of its logs may have come late, or been replayed late."""
        way = log_ways(run).get((self.source, self.server.name))
        if way is None or way.failed_ms:
            return True
        since_ms = min(self.surely_ms, self.at_ms - late_ms(self.server, run))
        downs = (each.outage.possible for each in self.server.downs)
        full = Interval(since_ms, self.at_ms)
        return touches((*way.catching_up, *downs), full.lo, full.hi) or not self.server.shows(
            full.lo, full.hi
        )


def activations(run: Run) -> dict[tuple[str, int], Operation]:
    """Those of lagged copies to which Active Manager said yes, by database and epoch."""
    return {
        (each.database, each.epoch): each
        for each in operations(run)
        if isinstance(each.planned.keys, LaggedActivation)
        and each.database is not None
        and each.epoch is not None
    }


@lru_cache(maxsize=1)
def stood(run: Run) -> tuple[Stood, ...]:
    """Each lagged copy at its activation, and at the end."""
    return (*_mounted(run), *_at_the_end(run))


def _mounted(run: Run) -> Iterator[Stood]:
    asked = activations(run)
    for active in run.active_copies.values():
        for change in active.changes:
            lag_ms = run.organisation.lagged.get((change.database, change.after.server))
            operation = asked.get((change.database, change.after.epoch))
            if lag_ms is not None and operation is not None:
                yield from _activated(change, lag_ms, operation, run)


def _activated(change: Change, lag_ms: int, operation: Operation, run: Run) -> Iterator[Stood]:
    server, keys = run.servers.get(change.after.server), operation.planned.keys
    mounted, at_ms = change.mounted, change.mounted.at_ms
    if server is None or at_ms is None or mounted.last_log is None:
        return
    assert isinstance(keys, LaggedActivation)
    vague_ms = _vague_ms(server, run)
    if keys.before_ms is None:
        least_ms, most_ms = at_ms - lag_ms - late_ms(server, run), at_ms - lag_ms + vague_ms
    else:
        least_ms, most_ms = keys.before_ms - vague_ms, keys.before_ms + vague_ms
    yield Stood(
        change.database, server, lag_ms, change.before.epoch, at_ms, mounted.last_log - 1, least_ms,
        most_ms, keys.before_ms, change.before.server, mounted.ref,
    )  # fmt: skip


def _at_the_end(run: Run) -> Iterator[Stood]:
    for row in run.copies:
        lag_ms = run.organisation.lagged.get((row.database, row.server))
        server = run.servers.get(row.server)
        active = run.active_copies.get(row.database)
        if lag_ms is None or server is None or active is None or run.end_ms is None:
            continue
        last = active.copies[-1]
        if row.state != "passive" or row.epoch != last.epoch:
            continue
        late, at_ms = late_ms(server, run), run.end_ms
        yield Stood(
            row.database, server, lag_ms, last.epoch, at_ms, row.last_log, at_ms - lag_ms - late,
            at_ms - lag_ms + late, None, last.server, row,
        )  # fmt: skip


def at_risk(run: Run) -> list[str]:
    """What of a lagged copy's lag Safety Nets do not keep as long as they have to (SN-5)."""
    found = []
    for (database, server), lag_ms in sorted(run.organisation.lagged.items()):
        if run.config.hold_ms < lag_ms:
            found.append(
                f"the lagged copy of {database} on {server}: SafetyNetHoldTime "
                f"{stamp(run.config.hold_ms)} is less than its ReplayLagTime {stamp(lag_ms)}"
            )
            found += _at_risk_since(database, server, lag_ms, run)
    return found


def _at_risk_since(database: str, server: str, lag_ms: int, run: Run) -> Iterator[str]:
    for each in _mounted(run):
        if (each.database, each.server.name) == (database, server):
            since_ms = max(each.at_ms - lag_ms if each.before_ms is None else each.before_ms, 0)
            until_ms = each.at_ms - run.config.hold_ms
            if since_ms < until_ms:
                yield (
                    f"it was activated at {stamp(each.at_ms)}: what {database} took from "
                    f"{stamp(since_ms)} to {stamp(until_ms)} may be lost"
                )


def _vague_ms(server: Server, run: Run) -> int:
    """How far the time of a log and that of the row that says so may be apart."""
    return run.finest_ms + server.askew_ms + int(UNLOGGED_WALL_MS * run.speed)
