"""Settings that a scenario draws: in which part of what may be drawn a plan's value lies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STEP = re.compile(r"\.(\w+)|\['([^']*)'\]|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what may be drawn: from `low` to `high`; one text where it is no number."""

    name: str
    low: int | str
    high: int | str

    def holds(self, value: str) -> bool:
        """`value` as JSON writes it, a text without its quotes."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            return value.removeprefix("-").isdigit() and self.low <= int(value) <= self.high
        return value == self.low


@dataclass(frozen=True, slots=True)
class DrawnSetting:
    """A parameter, where a plan has its value (`$.topology.databases[0].name`), its parts."""

    name: str
    path: str
    parts: tuple[Part, ...]

    def part_of(self, plan: Any) -> str | None:
        """The first that holds the plan's value."""
        value = _text(_at(plan, self.path))
        found = (part.name for part in self.parts if value is not None and part.holds(value))
        return next(found, None)


def settings_of(asked: Mapping[str, Any]) -> tuple[DrawnSetting, ...]:
    """`asked` is what sweep.json says of them. Raises KeyError, TypeError, AttributeError."""
    return tuple(_setting(name, each) for name, each in asked.items())


def parts_of(settings: Sequence[DrawnSetting], plan: Any) -> Iterator[tuple[str, str]]:
    """Each setting that the plan has, with its part."""
    for setting in settings:
        part = setting.part_of(plan)
        if part is not None:
            yield setting.name, part


def _setting(name: str, asked: Mapping[str, Any]) -> DrawnSetting:
    parts = tuple(Part(str(each["name"]), each["low"], each["high"]) for each in asked["parts"])
    return DrawnSetting(name, str(asked["path"]), parts)


def _at(plan: Any, path: str) -> Any:
    """None where there is nothing."""
    value = plan
    try:
        for key, quoted, place in STEP.findall(path):
            value = value[int(place)] if place else value[key or quoted]
    except (LookupError, TypeError):
        return None
    return value


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)
