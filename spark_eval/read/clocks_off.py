"""Rows of a record whose date was not lab time: whose clock was seen to be off, how far and when.
Sums: what parts of a record show adds up to the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from spark_eval.read.names import Ref, server_of

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

    def and_also(self, other: ClockOff) -> ClockOff:
        return ClockOff(
            self.server, min(self.least_ms, other.least_ms), max(self.most_ms, other.most_ms),
            min(self.from_ms, other.from_ms), max(self.to_ms, other.to_ms),
        )  # fmt: skip


@dataclass(slots=True)
class ClocksOff:
    """`wrong`: servers whose clock a fault was to set. `far`: what is seen of clocks that were off,
    by server. `denied`: rows whose date was off though no fault was to set their server's clock.
    """

    finest_ms: int
    wrong: frozenset[str]
    far: dict[str, ClockOff] = field(default_factory=dict)
    denied: list[Ref] = field(default_factory=list)

    def take(self, ref: Ref, at_ms: int, off_ms: int) -> None:
        """A row that is dated `off_ms` ahead of lab time."""
        if off_ms == 0:
            return
        server = server_of(ref.file)
        if server not in self.wrong:
            self.denied.append(ref)
        if abs(off_ms) > FAR_ABOVE * self.finest_ms:
            self._see(ClockOff(server, off_ms, off_ms, at_ms, at_ms))

    def add(self, other: ClocksOff) -> None:
        self.denied += other.denied
        for seen in other.far.values():
            self._see(seen)

    def seen(self) -> tuple[ClockOff, ...]:
        """In the order of servers."""
        return tuple(each for _, each in sorted(self.far.items()))

    def _see(self, seen: ClockOff) -> None:
        known = self.far.get(seen.server)
        self.far[seen.server] = seen if known is None else known.and_also(seen)
