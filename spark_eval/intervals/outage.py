"""An outage: while it may have lasted, and while it surely did.

Evidence gives two extents. What is late is judged on the possible one, what had to happen on the
certain one; an outage that never was certain (a disk that is full may fail at any write, and need
not) has an empty certain extent. `Certainty` is what a question about a stretch of time has for an
answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from spark_eval.intervals.interval import Interval


class Certainty(IntEnum):
    """NO: surely not. MAYBE: the record leaves it open. YES: surely."""

    NO = 0
    MAYBE = 1
    YES = 2


class Outage(NamedTuple):
    """`certain` lies within `possible`, and is None where nothing is certain of it."""

    possible: Interval
    certain: Interval | None

    def at(self, start_ms: int, end_ms: int) -> Certainty:
        """Whether it lasted at some moment of [start, end]."""
        if self.certain is not None and self.certain.touches(start_ms, end_ms):
            return Certainty.YES
        return Certainty.MAYBE if self.possible.touches(start_ms, end_ms) else Certainty.NO


def out_at(outages: Iterable[Outage], start_ms: int, end_ms: int) -> Certainty:
    """Whether any of them lasted at some moment of [start, end]."""
    return max((each.at(start_ms, end_ms) for each in outages), default=Certainty.NO)
