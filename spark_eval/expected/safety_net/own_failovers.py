"""Failovers that Active Manager decided on by itself, and what the copy before had (TP-6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from spark_eval.expected.safety_net.active_manager import need_ms
from spark_eval.expected.safety_net.logs_made import LogsMade, logs_made
from spark_eval.histories.organisation.active_copies import Change
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
    first trouble within `need_ms` of it. `logs` of the copy before.
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
    logs: LogsMade

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
        return self.logs.by(by_ms)


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
    logs = logs_made(change.database, change.before, run)
    yield OwnFailover(
        change, decided, manager, to, before, troubles, needs_ms, silent_ms,
        _last_well_ms(silent_ms, troubles, needs_ms), logs,
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
