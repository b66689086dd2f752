"""Faults as they happened: from what was intended to what was seen.

A fault's possible extent runs from the intent to the banner (of a server) or the heal (of links);
its certain extent from when it was applied to when healing began.

A server that was killed, paused, stopped or restarted is away and a link that is cut carries
nothing. A server whose disk is full may fail at everything that it should write, and need not, and
a link whose sessions carry so much and no more ends some of them: both are possibly away all that
time, and certainly never. A link that is slow or throttled carries all of it, later by `late_ms` an
exchange.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spark_eval.fault_kinds import KINDS, NEVER, NEW_SERVER, SERVER, Does
from spark_eval.histories.lateness import late_ms
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.intervals.outage import Outage
from spark_eval.read.plan import Link, PlannedFault
from spark_eval.read.rows import FaultRow, grouped

# who damages a server's disk, or cuts its power, has killed it
_AS_KILL = ("corrupt", "power_loss")


class Phases(NamedTuple):
    """When each phase of a fault was written down first, lab ms; `banner_ms`, of the last one."""

    intended_ms: int | None
    applied_ms: int | None
    applied_mono_ns: int | None
    heal_intended_ms: int | None
    healed_ms: int | None
    banner_ms: int | None


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of the plan with its evidence. `outage` is None of one that was never begun;
    `took_effect` None where nobody saw it; `over_ms` is `FOREVER_MS` where nothing ended it;
    `planned`, as the plan says it.
    """

    id: str
    kind: str
    does: Does
    server: str | None
    links: tuple[Link, ...]
    returns_with: str | None
    took_effect: bool | None
    reason: str | None
    outage: Outage | None
    late_ms: int | None
    over_ms: int
    by_ms: int | None
    phases: Phases
    planned: PlannedFault

    @property
    def acts_on_server(self) -> bool:
        return KINDS[self.kind].on == SERVER

    @property
    def disk_lost_ms(self) -> int | None:
        """When what its server had on disk was surely gone (TP-8)."""
        is_lost = self.returns_with in (NEVER, NEW_SERVER) and self.took_effect
        return self.phases.applied_ms if is_lost else None


def faults_of(planned: Iterable[PlannedFault], rows: Iterable[FaultRow]) -> tuple[Fault, ...]:
    """In the order of the plan."""
    journal = grouped(rows, lambda row: row.fault)
    return tuple(_fault(each, journal.get(each.id, ())) for each in planned)


def _fault(planned: PlannedFault, rows: Sequence[FaultRow]) -> Fault:
    kind = KINDS[planned.kind]
    seen = [row for row in rows if row.phase == "evidence"]
    phases = _phases(rows)
    is_away = kind.on == SERVER and kind.does is Does.AWAY
    ended_ms = phases.banner_ms if is_away else phases.healed_ms
    over_ms = FOREVER_MS if ended_ms is None else ended_ms
    verdicts = [row.took_effect for row in seen if row.took_effect is not None]
    returns_with = planned.keys.get("returns_with")
    return Fault(
        id=planned.id,
        kind="kill" if planned.kind in _AS_KILL else planned.kind,
        does=kind.does,
        server=None if planned.server is None else planned.server.lower(),
        links=planned.links,
        returns_with=returns_with,
        took_effect=all(verdicts) if verdicts else None,
        reason=min((row.reason for row in seen if row.reason is not None), default=None),
        outage=_outage(phases, kind.does, over_ms),
        late_ms=late_ms(planned.kind, planned.keys),
        over_ms=over_ms,
        by_ms=planned.keys.get("by_ms"),
        phases=phases,
        planned=planned,
    )


def _phases(rows: Sequence[FaultRow]) -> Phases:
    monos = (row.mono_ns for row in rows if row.phase == "applied" and row.mono_ns is not None)
    banners = (row.banner_ms for row in rows if row.banner_ms is not None)
    return Phases(
        intended_ms=_first(rows, "intended"),
        applied_ms=_first(rows, "applied"),
        applied_mono_ns=min(monos, default=None),
        heal_intended_ms=_first(rows, "heal-intended"),
        healed_ms=_first(rows, "healed"),
        banner_ms=max(banners, default=None),
    )


def _outage(phases: Phases, does: Does, over_ms: int) -> Outage | None:
    intended_ms, applied_ms = phases.intended_ms, phases.applied_ms
    begun_ms = applied_ms if intended_ms is None else intended_ms
    if begun_ms is None:
        return None
    sure_ms = begun_ms if applied_ms is None else applied_ms
    healing_ms = phases.heal_intended_ms
    end_ms = over_ms if healing_ms is None else min(healing_ms, over_ms)
    certain = None if does is Does.IN_DOUBT else Interval(sure_ms, end_ms)
    return Outage(Interval(begun_ms, over_ms), certain)


def _first(rows: Iterable[FaultRow], phase: str) -> int | None:
    times = (row.at_ms for row in rows if row.phase == phase and row.at_ms is not None)
    return min(times, default=None)


def unhealed(faults: Iterable[Fault]) -> list[str]:
    """The names of faults that nothing ended, and that were to end."""
    return sorted(
        each.id for each in faults if each.over_ms == FOREVER_MS and each.returns_with != NEVER
    )
