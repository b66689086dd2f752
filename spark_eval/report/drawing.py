"""A drawing as plain values: bars, marks, lines and words at places. A template makes SVG of it.

Places from left to right are percents as text, from top to bottom pixels. A symbol carries the
meaning, its colour (`role`, a variable of the page's style) only helps. Needs no script.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from spark_eval.report.axis import Tick


@dataclass(frozen=True, slots=True)
class Bar:
    """`style` is a class of the page's style. `label` stands `label_y` px below the bar's upper
    edge, `label_x` px from its start, or at its `end`.
    """

    x: str
    width: str
    y: float
    height: float
    style: str
    title: str = ""
    label: str = ""
    label_x: int = 4
    label_y: float = 12
    end: bool = False
    href: str = ""
    name: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """`name` is its word in the legend, `count` how many it stands for."""

    x: str
    y: float
    symbol: str
    role: str
    name: str
    title: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Line:
    """Upright or level."""

    x1: str
    x2: str
    y1: float
    y2: float
    style: str


@dataclass(frozen=True, slots=True)
class Words:
    """Beside the drawing, on its left (`style` `lane`), or in it."""

    x: str
    y: float
    text: str
    style: str


@dataclass(frozen=True, slots=True)
class Traffic:
    """A strip of small columns: `path` in a box of `columns` by 2, mail above the middle."""

    y: float
    height: float
    columns: int
    path: str
    style: str


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the legend; `bar` names a style instead of a symbol."""

    name: str
    symbol: str = ""
    role: str = ""
    bar: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Drawing:
    """`says` is read to those who cannot see it; `label_ch` is the width of the left column."""

    says: str
    height: int
    ticks: list[Tick]
    label_ch: int
    bars: list[Bar] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    traffic: list[Traffic] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)


def keys_of(marks: list[Mark]) -> list[Key]:
    """A legend of what is drawn, each with how many, and of nothing else."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for mark in marks:
        counts[mark.name, mark.symbol, mark.role] += mark.count
    return [Key(name, symbol, role, count=n) for (name, symbol, role), n in counts.items()]
