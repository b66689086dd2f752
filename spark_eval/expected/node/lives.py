"""The lives of a server's process, by its lifecycle log alone, and which row belongs to which."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from spark_eval.histories.organisation.active_copies import placed
from spark_eval.histories.run import Run
from spark_eval.read.rows import LifecycleRow, grouped

_ENDS = ("stopped", "crashed", "configuration-refused")


class LoggedLife(NamedTuple):
    """When it began (`at_ms`, and `placed` on the monotonic clock), the row by which it `started`,
    when a row ended it, and when the next one began; `rows`, all of it.
    """

    number: int
    at_ms: int
    placed: int
    started: LifecycleRow | None
    ended_ms: int | None
    next_ms: int | None
    rows: tuple[LifecycleRow, ...]

    def over_ms(self, end_ms: int) -> int:
        """By when nothing of it can be expected any more."""
        ends = (self.next_ms, self.ended_ms)
        return min([end_ms, *(each for each in ends if each is not None)])


@lru_cache(maxsize=1)
def logged_lives(run: Run) -> dict[str, tuple[LoggedLife, ...]]:
    """By server. A life begins with `configured`, or where a server writes none, with `started`."""
    rows = grouped(run.lifecycle, lambda row: row.server)
    return {server: _lives(own) for server, own in rows.items()}


def _lives(rows: list[LifecycleRow]) -> tuple[LoggedLife, ...]:
    rows.sort(key=lambda row: (placed(row) or 0, row.ref))
    first = "configured" if any(row.event == "configured" for row in rows) else "started"
    starts = [place for place, row in enumerate(rows) if row.event == first]
    parts = [rows[lo:hi] for lo, hi in zip(starts, [*starts[1:], len(rows)], strict=True)]
    return tuple(
        _life(number, part, parts[number][0].at_ms if number < len(parts) else None)
        for number, part in enumerate(parts, start=1)
    )


def _life(number: int, rows: list[LifecycleRow], next_ms: int | None) -> LoggedLife:
    started = [row for row in rows if row.event == "started"]
    ends = [row.at_ms for row in rows if row.event in _ENDS and row.at_ms is not None]
    return LoggedLife(
        number=number,
        at_ms=rows[0].at_ms or 0,
        placed=placed(rows[0]) or 0,
        started=min(started, key=lambda row: row.ref, default=None),
        ended_ms=min(ends, default=None),
        next_ms=next_ms,
        rows=tuple(rows),
    )


def life_at(lives: Sequence[LoggedLife], time: int) -> LoggedLife | None:
    """The one in which a placed time lies; None before the first."""
    place = bisect_right([life.placed for life in lives], time)
    return lives[place - 1] if place else None
