"""Intervals of lab time, and what is asked of several of them.

An `Interval` runs from `lo` to `hi`, lab milliseconds. Two that share a moment touch: a record's
times are rounded, and a moment that may belong to both is given to both. Where nothing ended it,
`hi` is `FOREVER_MS`. Refuses to know what an interval stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

FOREVER_MS = 4_102_444_800_000


class Interval(NamedTuple):
    """`lo` and `hi` in lab ms; both belong to it."""

    lo: int
    hi: int

    def touches(self, start_ms: int, end_ms: int) -> bool:
        return self.lo <= end_ms and self.hi >= start_ms

    def covers(self, start_ms: int, end_ms: int) -> bool:
        return self.lo <= start_ms and self.hi >= end_ms

    def longer(self, by_ms: int) -> Interval:
        """The same with its end `by_ms` later."""
        return Interval(self.lo, self.hi + by_ms)


def touches(intervals: Iterable[Interval], start_ms: int, end_ms: int) -> bool:
    """Whether any of them shares a moment with [start, end]."""
    return any(each.lo <= end_ms and each.hi >= start_ms for each in intervals)


def merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """In order of time; those that touch are one."""
    result: list[Interval] = []
    for each in sorted(intervals):
        if result and result[-1].hi >= each.lo:
            result[-1] = Interval(result[-1].lo, max(result[-1].hi, each.hi))
        else:
            result.append(each)
    return tuple(result)


def first_clear(start_ms: int, intervals: Sequence[Interval], need_ms: int) -> int:
    """The earliest time from `start_ms` on after which `need_ms` are free of `intervals`, which may
    end at it and begin when they are over.
    """
    time_ms = start_ms
    for each in sorted(intervals):
        if each.lo >= time_ms + need_ms and each.lo != each.hi:
            break
        if each.hi > time_ms and each.lo < time_ms + need_ms:
            time_ms = each.hi
    return time_ms


def shared_ms(intervals: Iterable[Interval], start_ms: int, end_ms: int) -> int:
    """How much of [start, end] they take; each counts by itself."""
    return sum(max(0, min(each.hi, end_ms) - max(each.lo, start_ms)) for each in intervals)


def last_by(times_ms: Iterable[int], limit_ms: int) -> int | None:
    """The latest of `times_ms` at or before `limit_ms`."""
    return max((each for each in times_ms if each <= limit_ms), default=None)
