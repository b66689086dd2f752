"""Which combinations of a phase of a message's life, a kind of fault and a drawn setting were met.

A combination counts once a seed. What could be met is every phase with every kind of fault that the
scenario has or may draw and, where it draws settings, with each part of each: those are named in
sweep.json, since a plan has what was drawn and not among what. Whether a fault can meet a phase at
all is not known here: what no seed met is named, and a person judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from spark_eval.results.coverage import PHASES
from spark_eval.sweep.folder import SweepFolder

Result = Mapping[str, Any]
Part: TypeAlias = tuple[str, str]
"""A setting, and one of the parts of what may be drawn for it; both empty where none is drawn."""

NO_PART: Part = ("", "")


class Combinations:
    """Takes the results of runs one at a time and keeps counts."""

    def __init__(self) -> None:
        self._drew: Counter[Part] = Counter()
        self._met: Counter[tuple[str, str, Part]] = Counter()

    def add(self, result: Result) -> None:
        parts = list(result.get("settings", {}).items())
        self._drew.update(parts)
        for phase, kinds in result["coverage"].items():
            for kind in kinds:
                self._met.update((phase, kind, part) for part in [NO_PART, *parts])

    def content(self, sweep: SweepFolder) -> dict[str, Any]:
        """`possible`, `met`: how many; `drawn`: setting -> part -> seeds; `pairs`: phase -> kind ->
        how many parts it met, of `parts`; `never_met`: phase -> kind -> setting -> parts of pairs
        that met some.
        """
        parts = [(each.name, part.name) for each in sweep.settings for part in each.parts]
        pairs = {
            phase: {kind: self._count(phase, kind, parts) for kind in self._kinds(sweep)}
            for phase in PHASES
        }
        counts = [count for kinds in pairs.values() for count in kinds.values()]
        drawn: dict[str, dict[str, int]] = {}
        for name, part in parts:
            drawn.setdefault(name, {})[part] = self._drew[name, part]
        return {
            "possible": len(counts) * max(1, len(parts)),
            "met": sum(counts),
            "parts": max(1, len(parts)),
            "drawn": drawn,
            "pairs": pairs,
            "never_met": {
                phase: missing
                for phase in PHASES
                if (missing := self._in_part(phase, pairs, parts))
            },
        }

    def _kinds(self, sweep: SweepFolder) -> list[str]:
        """None where nobody said what could be met: then nothing can be missing."""
        met = {kind for _, kind, _ in self._met}
        return sorted({*sweep.kinds, *met}) if sweep.kinds else []

    def _count(self, phase: str, kind: str, parts: list[Part]) -> int:
        return sum((phase, kind, part) in self._met for part in parts or [NO_PART])

    def _in_part(
        self, phase: str, pairs: Mapping[str, Mapping[str, int]], parts: list[Part]
    ) -> dict[str, dict[str, list[str]]]:
        found: dict[str, dict[str, list[str]]] = {}
        for kind, count in pairs[phase].items():
            for name, part in parts if count else []:
                if (phase, kind, (name, part)) not in self._met:
                    found.setdefault(kind, {}).setdefault(name, []).append(part)
        return found


def never_at_all(combinations: Mapping[str, Any]) -> Iterator[str]:
    """`shadowing with kill`: pairs of phase and fault that no seed met, whatever the settings."""
    for phase, kinds in combinations["pairs"].items():
        for kind, count in kinds.items():
            if not count:
                yield f"{phase} with {kind}"
