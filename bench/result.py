"""What a measurement gives back: a row of bench/results.json."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from lab.program.errors import GroundError


@dataclass(frozen=True, slots=True)
class Result:
    """`ratio` is ours to theirs; with nothing to lay beside it `theirs` is None and it is ours.

    All three are None where nothing was measured; `against` says why.
    """

    name: str
    ours: float | None
    theirs: float | None
    ratio: float | None
    unit: str
    against: str


class Unmeasurable(GroundError):
    """This machine lacks what the measurement needs beside the lab; what it needs is the hint."""


def beside(name: str, ours: float, theirs: float, unit: str, against: str) -> Result:
    """A result laid beside something else's."""
    return Result(name, round(ours, 3), round(theirs, 3), round(ours / theirs, 3), unit, against)


def alone(name: str, ours: float, unit: str, against: str = "") -> Result:
    """A result with nothing to lay beside it; `against` says what was aimed at."""
    return Result(name, round(ours, 3), None, round(ours, 3), unit, against)


def not_measured(name: str, unit: str, reason: Unmeasurable) -> Result:
    """A row without a number."""
    against = f"not measured: {reason.cause} ({reason.hint})"
    return Result(name, None, None, None, unit, against)


def in_pairs(name: str, pairs: Sequence[tuple[float, float]], unit: str, against: str) -> Result:
    """Ours and theirs of each round: their medians, and the median of the rounds' ratios, since
    the two of a round saw the same machine; the spread is the rounds' least and greatest ratio.
    """
    ours, theirs = (statistics.median(each) for each in zip(*pairs, strict=True))
    ratios = [one / other for one, other in pairs]
    ratio = round(statistics.median(ratios), 3)
    said = f"{against}; ratio {spread_of(ratios)}"
    return Result(name, round(ours, 3), round(theirs, 3), ratio, unit, said)


def spread_of(values: Sequence[float]) -> str:
    """`0.2 to 0.25 in 5 rounds`."""
    return f"{min(values):.3g} to {max(values):.3g} in {len(values)} rounds"
