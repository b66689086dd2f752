"""What a measurement gives back: a row of bench/results.json."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """`ratio` is ours to theirs; with nothing to lay beside it `theirs` is None and it is ours."""

    name: str
    ours: float
    theirs: float | None
    ratio: float
    unit: str
    against: str


def beside(name: str, ours: float, theirs: float, unit: str, against: str) -> Result:
    """A result laid beside something else's."""
    return Result(name, round(ours, 3), round(theirs, 3), round(ours / theirs, 3), unit, against)


def alone(name: str, ours: float, unit: str, against: str = "") -> Result:
    """A result with nothing to lay beside it; `against` says what was aimed at."""
    return Result(name, round(ours, 3), None, round(ours, 3), unit, against)
