"""Failovers that Active Manager decided on by itself, and the logs that the copy before had (TP-6).

Each delivery into an active copy is a log, of a probe too, and so is each mount.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from spark_eval.expected.node.probes import probes_by_copy
from spark_eval.expected.safety_net.active_manager import need_ms
from spark_eval.histories.organisation.active_copies import MOUNTED, Change
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.ways import MANAGEMENT, Trouble
from spark_eval.intervals.interval import last_by
from spark_eval.read.rows import LifecycleRow


@dataclass(frozen=True, slots=True)
class OwnFailover:
    """`decided`, the row of the decision; `troubles` of the way of `manager` to the copy before,
    and `need_ms`, within which it surely asks a copy that nothing keeps from answering.
    `silent_ms`: when the copy before was silent for the last time; `last_well_ms`: the same, or the
    first trouble within `need_ms` of it. `first_log`, `since_ms`, `made`: the log of the mount of
    the copy before, when that was, and when each other log was made, in order.
    """

    change: Change
    decided: LifecycleRow
    manager: Server
    to: Server
    before: Server
    troubles: tuple[Trouble, ...]
    need_ms: int
    silent_ms: int | None
    last_well_ms: int | None
    first_log: int | None
    since_ms: int | None
    made: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.change.database}:{self.change.after.epoch}"

    @property
    def had_new(self) -> int | None:
        """The last log of the new copy before its mount."""
        last = self.change.mounted.last_log
        return None if last is None else last - 1

    def had(self, by_ms: int) -> int | None:
        """How many logs the copy before had by then."""
        return None if self.first_log is None else self.first_log + bisect_right(self.made, by_ms)


@lru_cache(maxsize=1)
def own_failovers(run: Run) -> tuple[OwnFailover, ...]:
    return tuple(_all(run))


def _all(run: Run) -> Iterator[OwnFailover]:
    for active in run.active_copies.values():
        for change in active.changes:
            decided = [row for row in active.decided if row.epoch == change.after.epoch]
            first = min(decided, key=lambda row: row.at_ms or 0, default=None)
            if first is not None and _is_own(change):
                yield from _own(change, first, run)


def _is_own(change: Change) -> bool:
    """None that somebody asked for, and none that was found."""
    cause = change.cause or ""
    is_asked = cause.startswith("asked for") or cause == "found active"
    return change.kind == "failover" and change.cause is not None and not is_asked


def _own(change: Change, decided: LifecycleRow, run: Run) -> Iterator[OwnFailover]:
    names = (decided.server, change.after.server, change.before.server)
    servers = [run.servers[name] for name in names if name in run.servers]
    if len(servers) != len(names):
        return
    manager, to, before = servers
    troubles = tuple(run.ways.troubles(manager.name, before.name, MANAGEMENT))
    needs_ms = need_ms(manager, run)
    silent_ms = _silent_ms(change, decided, run)
    first_log, since_ms = _first_log(change, run)
    yield OwnFailover(
        change, decided, manager, to, before, troubles, needs_ms, silent_ms,
        _last_well_ms(silent_ms, troubles, needs_ms), first_log, since_ms, _made(change, run),
    )  # fmt: skip


def _silent_ms(change: Change, decided: LifecycleRow, run: Run) -> int | None:
    like = {"database": change.database, "peer": change.before.server}
    return last_by(run.said_ms("copy-silent", **like), decided.at_ms or 0)


def _last_well_ms(
    silent_ms: int | None, troubles: tuple[Trouble, ...], needs_ms: int
) -> int | None:
    if silent_ms is None:
        return None
    near = [
        each.at.lo
        for each in troubles
        if each.at.lo <= silent_ms and each.at.hi >= silent_ms - needs_ms
    ]
    return min([silent_ms, *near])


def _first_log(change: Change, run: Run) -> tuple[int | None, int | None]:
    before = (change.database, change.before.epoch, change.before.server)
    mounts = [row for row in run.said(MOUNTED) if (row.database, row.epoch, row.server) == before]
    logs = (row.last_log for row in mounts if row.last_log is not None)
    times = (row.at_ms for row in mounts if row.at_ms is not None)
    return min(logs, default=None), min(times, default=None)


def _made(change: Change, run: Run) -> tuple[int, ...]:
    copy, epoch = (change.database, change.before.server), change.before.epoch
    rows = (*run.delivered.get(copy, ()), *probes_by_copy(run).get(copy, ()))
    return tuple(sorted(row.at_ms for row in rows if row.is_new and row.epoch == epoch))
