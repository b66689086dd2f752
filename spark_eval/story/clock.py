"""Lab time of what servers dated, line by line: the rule of `next.read.clocks`, for a story.

A row that says the monotonic time is placed by it; what a server kept on disk goes by the steady
clock of the life that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import Any

from spark_eval.story.row import inner, number, text, whole

BEGINNINGS = ("configured", "started")


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A life of a server's process: from `lo_ms` to before `hi_ms` (None: open), and the skew of
    its steady clock.
    """

    lo_ms: int
    hi_ms: int | None
    skew_ms: int

    def had(self, at_ms: int) -> bool:
        return self.lo_ms <= at_ms and (self.hi_ms is None or at_ms < self.hi_ms)


@dataclass(frozen=True, slots=True)
class RunClock:
    """`origin_ms` is epoch ms; `zero_ns` None: the run does not say where its zero is."""

    origin_ms: int
    zero_ns: int | None
    speed: float
    finest_ms: int

    def dated(self, text: str) -> int | None:
        """Lab time of a date in a log, as it stands there; None where it is no date."""
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(zoned.timestamp() * 1000) - self.origin_ms

    def off_ms(self, at_ms: int | None, mono_ns: int | None) -> int:
        """By how much a date was ahead; a difference no coarser than the clock resolves is none."""
        if at_ms is None or mono_ns is None or self.zero_ns is None:
            return 0
        lab_ms = int(max(mono_ns - self.zero_ns, 0) * self.speed / 1_000_000)
        off_ms = at_ms - lab_ms
        return off_ms if abs(off_ms) > max(self.finest_ms, 1) else 0

    def placed(self, at_ms: int | None, mono_ns: int | None) -> int | None:
        return None if at_ms is None else at_ms - self.off_ms(at_ms, mono_ns)


def run_clock(
    origin_ms: int, plan: Mapping[str, Any], host: Mapping[str, Any], ran_on: str | None
) -> RunClock:
    """From plan.json and host.json. A simulator's monotonic clock is lab time itself."""
    speed = number(inner(plan, "clock"), "speed")
    return RunClock(
        origin_ms=origin_ms,
        zero_ns=whole(host, "monotonic_zero_ns"),
        speed=1.0 if ran_on == "simulator" or not speed else speed,
        finest_ms=ceil(number(host, "clock_resolution_ms") or 0),
    )


def lives(clock: RunClock, lifecycle: Iterable[Mapping[str, Any]]) -> list[Lifetime]:
    """Of one server, in order; a life begins with `configured`, or without any with `started`."""
    beginnings: dict[str, list[tuple[int, int]]] = {event: [] for event in BEGINNINGS}
    for row in lifecycle:
        at_ms, event = whole(row, "at_ms"), text(row, "event")
        if event in beginnings and at_ms is not None:
            off_ms = clock.off_ms(at_ms, whole(row, "mono_ns"))
            skew_ms = off_ms - (whole(row, "ahead_ms") or 0)
            beginnings[event].append((at_ms - off_ms, skew_ms))
    begun = sorted(beginnings["configured"] or beginnings["started"])
    starts = [0, *(lo_ms for lo_ms, _ in begun[1:])]
    ends: list[int | None] = [hi_ms for hi_ms, _ in begun[1:]] + [None]
    return [
        Lifetime(lo_ms, hi_ms, skew_ms)
        for (_, skew_ms), lo_ms, hi_ms in zip(begun, starts, ends, strict=False)
    ]


def kept(at_ms: int | None, known: Iterable[Lifetime]) -> int | None:
    """Lab time of what a server kept; None where lives by different clocks may have written it."""
    if at_ms is None or not any(life.skew_ms for life in known):
        return at_ms
    times = {at_ms - life.skew_ms for life in known if life.had(at_ms - life.skew_ms)}
    return times.pop() if len(times) == 1 else None
