"""Two runs of one scenario with one seed whose settings alone differ: what that cost and bought.

Nothing has to agree there. What the runs did is set side by side: how long senders waited for their
250, how long mail took, what was lost, and for how long messages were on fewer than two servers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from spark_eval.compare.side import NUMBERS, Side
from spark_eval.report.build import percentile
from spark_eval.story.words import lab_moment, lab_time

EXPOSURE = "exposure"
# of neither run there is anything to say
NOTHING = ({"0"}, {lab_time(0)})
# columns of a table whose difference is a duration
DURATIONS = {
    "answered": ("attempts", "started_ms", "ended_ms"),
    "delivered": ("delays", "submitted_ms", "delivered_ms"),
}


@dataclass(frozen=True, slots=True)
class Weighed:
    """One figure of both runs, as a person reads it."""

    name: str
    a: str
    b: str

    @property
    def is_same(self) -> bool:
        return self.a == self.b


@dataclass(frozen=True, slots=True)
class Weighing:
    """`settings` are those that differ."""

    sides: tuple[Side, Side]
    settings: tuple[Weighed, ...]
    figures: tuple[Weighed, ...]

    def content(self) -> dict[str, Any]:
        """compare.json."""
        a, b = self.sides
        return {
            "version": 1,
            "scenario": a.folder.scenario,
            "seed": a.folder.seed,
            "outcome": "settings",
            "runs": [
                {"name": side.name, "run": side.folder.run, "folder": side.folder.path.name}
                for side in (a, b)
            ],
            "settings": [asdict(each) for each in self.settings],
            "figures": [asdict(each) for each in self.figures],
        }


def weigh(sides: tuple[Side, Side], settings: Sequence[tuple[str, str, str]]) -> Weighing:
    """Raises OSError where a table is missing, ValueError where it cannot be read."""
    told = [dict(_figures(side)) for side in sides]
    names = [*told[0], *(name for name in told[1] if name not in told[0])]
    both = (Weighed(name, told[0].get(name, "–"), told[1].get(name, "–")) for name in names)
    figures = (each for each in both if {each.a, each.b} not in NOTHING)
    parted = (Weighed(name.removeprefix("settings."), a, b) for name, a, b in settings)
    return Weighing(sides, tuple(parted), tuple(figures))


def _figures(side: Side) -> Iterator[tuple[str, str]]:
    yield "verdict", str(side.verdict.get("verdict"))
    for name, columns in DURATIONS.items():
        taken = _taken_ms(side.folder.evaluation, *columns)
        for word, part in (("median", 0.5), ("95 %", 0.95), ("longest", 1.0)):
            yield f"{name} within, {word}", lab_moment(percentile(taken, part)) if taken else "–"
    for kind in NUMBERS:
        for name, value in (side.verdict.get(kind) or {}).items():
            if isinstance(value, int):
                yield f"{kind}.{name}", str(value)
    yield from _exposed(side.verdict.get(EXPOSURE) or {})


def _taken_ms(evaluation: Path, table: str, begun: str, ended: str) -> list[int]:
    """Of attempts those that were acknowledged."""
    path = evaluation / f"{table}.parquet"
    rows: list[Mapping[str, Any]] = pq.read_table(path).to_pylist()
    return sorted(
        row[ended] - row[begun]
        for row in rows
        if row[ended] is not None and row[begun] is not None and row.get("outcome", "ok") == "ok"
    )


def _exposed(exposure: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Durations are sums over messages, of lab time."""
    for name, value in exposure.items():
        if name.endswith("_seconds"):
            yield f"{EXPOSURE}.{name.removesuffix('_seconds')}", lab_time(1000 * value)
        elif isinstance(value, int):
            yield f"{EXPOSURE}.{name}", str(value)
    for row in exposure.get("by_cause") or ():
        seconds, messages = row["message_seconds"], row["messages"]
        yield f"{EXPOSURE}: {row['cause']}", f"{lab_time(1000 * seconds)} of {messages} messages"
