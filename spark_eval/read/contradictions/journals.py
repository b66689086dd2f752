"""faults.jsonl and operations.jsonl against the plan, and each fault's phases against each other.

A fault without evidence is a reason of its own in a verdict, and not named again here. Times are
those of the lab's clock: what began before it was planned, or healed before it began, did not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spark_eval.fault_kinds import NEVER
from spark_eval.read.contradictions.made_by_lab import ROUNDED_MS, found_at, has_ended
from spark_eval.read.damage import Damage
from spark_eval.read.record import Record
from spark_eval.read.rows import FaultRow, OperationRow, grouped

UNPLANNED = "names what plan.json does not have"
NO_PHASE = "a phase that there is not"
TWICE = "the same phase twice"
OTHERWISE = "not what plan.json says of it"
EARLY = "earlier than plan.json says"
OUT_OF_ORDER = "a phase that the one before it is not there for"
UNHEALED = "never healed, though the run went to its end"
PHASES = (
    "armed", "reached", "intended", "applied", "evidence", "heal-intended", "healed",
    "evidence-healed",
)  # fmt: skip
Row = FaultRow | OperationRow


@dataclass(frozen=True, slots=True)
class _Planned:
    """`said`, what an intent says again."""

    start_ms: int | None
    end_ms: int | None
    said: Mapping[str, Any]


def of_journals(record: Record) -> Iterator[Damage]:
    planned = _faults(record)
    faults = grouped(record.rows.faults, lambda row: row.fault)
    for name, rows in sorted(faults.items()):
        yield from _of_one(rows, planned.get(name), record, is_fault=True)
    operations = grouped(record.rows.operations, lambda row: row.operation)
    asked = _operations(record)
    for name, acts in sorted(operations.items()):
        yield from _of_one(acts, asked.get(name), record, is_fault=False)


def _faults(record: Record) -> dict[str, _Planned]:
    found = {}
    for each in record.heading.plan.faults:
        links = [link._asdict() for link in each.links]
        said = {"kind": each.kind, "server": each.server, "links": links, **each.keys}
        end_ms = None if each.when is not None else each.end_ms
        found[each.id] = _Planned(each.start_ms, end_ms, said)
    return found


def _operations(record: Record) -> dict[str, _Planned]:
    return {
        each.id: _Planned(each.at_ms, None, {"kind": each.kind, **each.keys._asdict()})
        for each in record.heading.plan.operations
    }


def _of_one(
    rows: list[Any], planned: _Planned | None, record: Record, *, is_fault: bool
) -> Iterator[Damage]:
    rows = sorted(rows, key=lambda row: row.ref)
    if planned is None:
        yield found_at(rows[0].ref, UNPLANNED)
    yield from _first((row for row in rows if row.phase not in PHASES), NO_PHASE)
    phases = [row.phase for row in rows]
    twice = (row for place, row in enumerate(rows) if row.phase in phases[:place])
    yield from _first(twice, TWICE)
    intent = next((row for row in rows if row.phase == "intended"), None)
    if planned is not None and intent is not None and _is_other(intent.said, planned.said):
        yield found_at(intent.ref, OTHERWISE)
    times = {phase: _first_ms(rows, phase) for phase in PHASES}
    if planned is not None:
        yield from _early(rows, planned, times, record)
    yield from _out_of_order(rows, times)
    if (
        is_fault
        and has_ended(record.heading)
        and intent is not None
        and times["heal-intended"] is None
        and (planned is None or planned.said.get("returns_with") != NEVER)
    ):
        yield found_at(intent.ref, UNHEALED)


def _first(rows: Iterator[Row], damage: str) -> Iterator[Damage]:
    if (row := next(rows, None)) is not None:
        yield found_at(row.ref, damage)


def _first_ms(rows: list[Row], phase: str) -> int | None:
    times = (row.at_ms for row in rows if row.phase == phase and row.at_ms is not None)
    return min(times, default=None)


def _is_other(said: Mapping[str, Any], planned: Mapping[str, Any]) -> bool:
    """Where both say something."""
    return any(
        said.get(name) is not None and value is not None and _plain(said[name]) != _plain(value)
        for name, value in planned.items()
    )


def _plain(value: Any) -> Any:
    """Links by their ends, whatever else is said of them."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return tuple(value.get(name, value.get(f"{name}_")) for name in ("from", "to", "service"))
    return value


def _early(
    rows: list[Row], planned: _Planned, times: Mapping[str, int | None], record: Record
) -> Iterator[Damage]:
    bounds = {"intended": planned.start_ms}
    if has_ended(record.heading):
        bounds["heal-intended"] = planned.end_ms
    for phase, bound_ms in bounds.items():
        at_ms = times[phase]
        if at_ms is not None and bound_ms is not None and at_ms < bound_ms - ROUNDED_MS:
            yield from _first((row for row in rows if row.phase == phase), EARLY)


def _out_of_order(rows: list[Row], times: Mapping[str, int | None]) -> Iterator[Damage]:
    evidence = [row.took_effect for row in rows if row.phase == "evidence"]
    checks = {
        "applied": ("intended", True),
        "evidence": ("applied", any(evidence)),
        "heal-intended": ("intended", True),
        "healed": ("heal-intended", times["applied"] is not None),
        "evidence-healed": ("healed", True),
    }
    for later, (before, is_asked) in checks.items():
        at_ms, before_ms = times[later], times[before]
        if is_asked and at_ms is not None and (before_ms is None or before_ms > at_ms):
            yield from _first((row for row in rows if row.phase == later), OUT_OF_ORDER)
