"""What the lines of a record show together, whatever message they are about. Sums: what parts of a
record show adds up to the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from spark_eval.read.clocks import LabClock
from spark_eval.read.heading import Heading
from spark_eval.read.names import Ref
from spark_eval.read.record import Lines, Record

# wall time that is looked at as one: whether any server wrote a line
PIECE_WALL_MS = 250

Store = tuple[str, str]
"""A server, and the id of its queue database."""


@dataclass(slots=True)
class Logs:
    """Of message tracking: `seen_ms`, when a queue database is seen first, `seen`, the first row of
    it; `said`, servers that wrote a row. `took`: those of whom a sender, or another server, says
    that they took mail. `pieces` of `piece_ms` in which any server wrote a line of a log, counted
    from 0; none where nobody asks (`piece_ms` 0).
    """

    piece_ms: int = 0
    seen_ms: dict[Store, int] = field(default_factory=dict)
    seen: dict[Store, Ref] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    took: set[str] = field(default_factory=set)
    pieces: set[int] = field(default_factory=set)

    def take(self, read: Lines | Record) -> None:
        for row in read.tracking:
            self.said.add(row.server)
            if row.event == "HAREDIRECT" and row.shadow_server is not None:
                self.took.add(row.shadow_server)
            if row.database_id:
                self._see((row.server, row.database_id), row.at_ms, row.ref)
        for outcome in read.rows.outcomes:
            if outcome.outcome == "ok" and outcome.server is not None:
                self.took.add(outcome.server)
        for log in (read.tracking, read.probes, read.connectivity):
            self._write(row.at_ms for row in log)

    def add(self, other: Logs) -> None:
        self.said |= other.said
        self.took |= other.took
        self.pieces |= other.pieces
        for store, ref in other.seen.items():
            self._see(store, other.seen_ms[store], ref)

    def _see(self, store: Store, at_ms: int, ref: Ref) -> None:
        self.seen_ms[store] = min(self.seen_ms.get(store, at_ms), at_ms)
        self.seen[store] = min(self.seen.get(store, ref), ref)

    def _write(self, times_ms: Iterable[int]) -> None:
        if self.piece_ms:
            self.pieces.update(at_ms // self.piece_ms for at_ms in times_ms)


def no_logs(heading: Heading) -> Logs:
    """A simulator's machine takes no time, so nothing of it ever stands still."""
    return Logs(0 if heading.is_simulated else piece_ms(heading.clock))


def piece_ms(clock: LabClock) -> int:
    return int(max(PIECE_WALL_MS * clock.speed, 1))
