"""Where servers' clocks were, and lab time from what they say.

A server's wall clock may be wrong. The host's monotonic clock is not, and stands beside the date in
every row; so a row is placed in lab time by it, and the difference is by how much the date was off.
What a server keeps on disk goes by its steady clock, of which the date may be ahead (SM-18), and
says no monotonic time: there the skew of the life that wrote it counts, where it is clear which.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from spark_eval.read.rows import LifecycleRow


class LabClock(NamedTuple):
    """`zero_ns`: the monotonic clock at the start of lab time, None where nobody said; `speed`: lab
    ms for each of the clock that servers wait and log by; `finest_ms`: what it resolves.
    """

    zero_ns: int | None
    speed: float
    finest_ms: int

    def lab_ms(self, mono_ns: int | None) -> int | None:
        """By the monotonic clock; None where nobody said when it began."""
        if mono_ns is None or self.zero_ns is None:
            return None
        return int(max(0, mono_ns - self.zero_ns) * self.speed / 1_000_000)

    def off_ms(self, at_ms: int, mono_ns: int | None) -> int:
        """By how much a date was ahead of lab time; a difference no coarser than the clock resolves
        is none.
        """
        lab_ms = self.lab_ms(mono_ns)
        if lab_ms is None:
            return 0
        off_ms = at_ms - lab_ms
        return off_ms if abs(off_ms) > max(self.finest_ms, 1) else 0


class Life(NamedTuple):
    """A life of a process, from `lo_ms` (the first: 0) to before `hi_ms` (None: open); `skew_ms` of
    its steady clock.
    """

    lo_ms: int
    hi_ms: int | None
    skew_ms: int


def lives_of(rows: Iterable[LifecycleRow]) -> tuple[Life, ...]:
    """Of one server, in order. A life begins with `configured`, or where a server writes none, with
    `started`.
    """
    known = [row for row in rows if row.at_ms is not None]
    begun = _begun(known, "configured") or _begun(known, "started")
    return tuple(
        Life(0 if number == 0 else lo_ms, after[0] if after else None, skew_ms)
        for number, ((lo_ms, skew_ms), after) in enumerate(zip_longest(begun, begun[1:]))
    )


def _begun(rows: Iterable[LifecycleRow], event: str) -> list[tuple[int, int]]:
    return sorted(
        (row.at_ms, row.off_ms - (row.ahead_ms or 0))
        for row in rows
        if row.event == event and row.at_ms is not None
    )


def kept_ms(
    time_ms: int | None, lives: Sequence[Life], not_after_ms: int | None = None
) -> int | None:
    """The lab time of a time that a server kept; None where two lives, by different clocks, may
    have written it. `not_after_ms`: by when it was reported, if that is known.
    """
    if time_ms is None or not any(life.skew_ms for life in lives):
        return time_ms
    fits = {
        lab_ms
        for life in lives
        if (lab_ms := time_ms - life.skew_ms) >= life.lo_ms
        and (life.hi_ms is None or lab_ms < life.hi_ms)
        and (not_after_ms is None or lab_ms <= not_after_ms)
    }
    return fits.pop() if len(fits) == 1 else None
