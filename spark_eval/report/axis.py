"""Where a moment or a delay lies on a drawing, and which values the axis names.

Lab time is drawn in percent of the width, so that one drawing fits every screen; a delay in pixels
from the top, by its logarithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from spark_eval.story.words import lab_moment, lab_time

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
STEPS = (
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    *(n * DAY for n in (1, 2, 5, 10, 30, 100)),
)
MOST_TICKS = 12
DELAYS = (
    1, 10, 100, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 10 * HOUR, 100 * HOUR, 1000 * HOUR,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tick:
    """`minor` ones give way on a small screen."""

    x: str
    text: str
    minor: bool


@dataclass(frozen=True, slots=True)
class LabTime:
    """The whole of a run's lab time, from left to right."""

    end_ms: int

    def x(self, at_ms: float) -> str:
        """`12.5%`; what lies outside of the run is drawn at its edge."""
        share = 100 * min(max(at_ms, 0), self.end_ms) / self.end_ms
        return f"{share:.2f}".rstrip("0").rstrip(".") + "%"

    def width(self, from_ms: float, to_ms: float) -> str:
        return self.x(min(max(to_ms, 0), self.end_ms) - min(max(from_ms, 0), self.end_ms))

    def ticks(self) -> list[Tick]:
        longest = STEPS[-1] * max(1, math.ceil(self.end_ms / (STEPS[-1] * MOST_TICKS)))
        step = next((s for s in STEPS if self.end_ms / s <= MOST_TICKS), longest)
        marks = range(0, self.end_ms + 1, step)
        return [Tick(self.x(at), lab_time(at), minor=n % 3 != 0) for n, at in enumerate(marks)]


@dataclass(frozen=True, slots=True)
class Delay:
    """Delays between `least_ms` and `most_ms`, short ones below, on `height` px from `top`."""

    least_ms: float
    most_ms: float
    top: int
    height: int

    def y(self, delay_ms: float) -> float:
        low, high = math.log10(self._low()), math.log10(self._high())
        share = (math.log10(max(delay_ms, self._low())) - low) / (high - low)
        return round(self.top + self.height * (1 - share), 1)

    def ticks(self) -> list[tuple[float, str]]:
        named = [at for at in DELAYS if self._low() <= at <= self._high()]
        return [(self.y(at), _short(at)) for at in named]

    def _low(self) -> float:
        return max([at for at in DELAYS if at <= self.least_ms], default=1)

    def _high(self) -> float:
        above = min([at for at in DELAYS if at >= self.most_ms], default=self.most_ms)
        return max(above, 10 * self._low())


def _short(ms: int) -> str:
    """`0:10:00`, `0:00:00.1`."""
    return lab_time(ms) if ms >= SECOND else lab_moment(ms).rstrip("0")
