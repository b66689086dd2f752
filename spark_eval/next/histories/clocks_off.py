"""Whose clock was seen to be off, how far, and from when to when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from spark_eval.next.read.damage import Sound
from spark_eval.next.read.names import server_of

# a clock is seen to be off, and two times are told apart, by so many times the resolution
FAR_ABOVE = 5


class ClockOff(NamedTuple):
    """A server's clock: `least_ms` to `most_ms` ahead of lab time (below 0: behind), `from_ms` to
    `to_ms`, first and last seen.
    """

    server: str
    least_ms: int
    most_ms: int
    from_ms: int
    to_ms: int


def clocks_off(off: Iterable[Sound], finest_ms: int) -> tuple[ClockOff, ...]:
    """Of the rows whose date was `off`, in the order of servers."""
    seen: dict[str, list[Sound]] = {}
    for row in off:
        if abs(row.off_ms) > FAR_ABOVE * finest_ms:
            seen.setdefault(server_of(row.ref.file), []).append(row)
    return tuple(_clock_off(server, rows) for server, rows in sorted(seen.items()))


def _clock_off(server: str, rows: list[Sound]) -> ClockOff:
    ahead, times = [row.off_ms for row in rows], [row.at_ms for row in rows]
    return ClockOff(server, min(ahead), max(ahead), min(times), max(times))
