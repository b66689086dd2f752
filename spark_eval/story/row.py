"""One line of a story, and values of JSON records as a story says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StoryLine:
    """`at_ms` is lab time, None where it is not known; `place` is who recorded it."""

    message_id: str
    at_ms: int | None
    mono_ns: int | None
    place: str
    what: str
    file: str
    line: int

    @property
    def order(self) -> tuple[object, ...]:
        """By time; what is not known comes first."""
        known = [(value is not None, value or 0) for value in (self.at_ms, self.mono_ns)]
        return (*known, self.file, self.line)

    def as_row(self) -> dict[str, Any]:
        """As in the table `stories`, but for its run."""
        return {
            "message_id": self.message_id,
            "at_ms": self.at_ms,
            "mono_ns": self.mono_ns,
            "place": self.place,
            "what": self.what,
            "ref": {"file": self.file, "line": self.line},
        }


def inner(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object within; empty where there is none."""
    value = row.get(name)
    return value if isinstance(value, Mapping) else {}


def objects(row: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The objects of a list within."""
    values = row.get(name)
    found = values if isinstance(values, list) else []
    return [each for each in found if isinstance(each, Mapping)]


def number(row: Mapping[str, Any], name: str) -> float | None:
    """A value that is a number."""
    value = row.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def whole(row: Mapping[str, Any], *names: str) -> int | None:
    """The first of these values that is a whole number."""
    values = (row.get(name) for name in names)
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool)), None)


def text(row: Mapping[str, Any], name: str) -> str | None:
    """A value as text; None where there is none."""
    value = row.get(name)
    return None if value is None else str(value)


def said(row: Mapping[str, Any], name: str) -> str:
    """A value within a sentence: what is not known reads as a question mark."""
    value = text(row, name)
    return "?" if value is None else value


def texts(row: Mapping[str, Any], name: str) -> list[str]:
    """A list of texts; empty where there is none."""
    values = row.get(name)
    return [str(value) for value in values] if isinstance(values, list) else []
