"""What to draw on a lane: the moments of a server, many alike in a moment counted together.

Bounded by the number of servers, kinds and moments (`MOMENTS` to a run), whatever the mail was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from spark_eval.expected.shadow.promotions import promotions_of
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.active_copies import MOUNTED
from spark_eval.histories.primary import SAFETY_NET
from spark_eval.histories.run import Run
from spark_eval.read.rows import LifecycleRow, TrackingRow
from spark_eval.results.row import Row

MOMENTS = 240
_MARKS = {
    "started": "restart",
    "database-created": "new database",
    "database-set-aside": "database set aside",
    "shadow-heartbeat-failed": "heartbeat failed",
}
_EVENTS = {
    "RECEIVE": "accepted",
    "HAREDIRECTFAIL": "unprotected",
    "HADISCARD": "shadow let go",
    "DUPLICATEDELIVER": "duplicate hidden",
    "DEFER": "deferred",
}


class _Mark(NamedTuple):
    lane: str
    kind: str
    detail: str | None


@dataclass(slots=True)
class Timeline:
    """By mark and moment, when the first was, and how many there were."""

    marks: dict[tuple[_Mark, int], tuple[int, int]] = field(default_factory=dict)

    def add(self, other: Timeline) -> None:
        for key, (at_ms, count) in other.marks.items():
            self._take(key, at_ms, count)

    def count(self, message: Message, run: Run) -> None:
        self.count_rows(message.tracking, run)
        for promotion in promotions_of(message, run):
            copy = promotion.copy
            if copy.promoted is not None:
                detail = promotion.cause and f"{promotion.cause} of {copy.primary_name}"
                self._mark(_Mark(copy.server.name, "promotion", detail), copy.promoted.at_ms, run)

    def count_rows(self, rows: Iterable[TrackingRow], run: Run) -> None:
        for row in rows:
            if (kind := _kind(row)) is not None:
                detail = (row.destination or "") if row.event == "RESUBMIT" else ""
                self._mark(_Mark(row.server, kind, detail), row.at_ms, run)

    def count_lifecycle(self, run: Run) -> None:
        """Without what each server did when the lab started it: that is no restart, and the
        database that it made then replaces none.
        """
        began: dict[str, tuple[int, int]] = {}
        for row in run.lifecycle:
            if row.event == "started":
                began[row.server] = min(began.get(row.server, _order(row)), _order(row))
        for row in run.lifecycle:
            mark = _mark_of(row)
            is_later = row.server not in began or _order(row) > began[row.server]
            if mark is not None and row.at_ms is not None and is_later:
                self._mark(mark, row.at_ms, run)

    def _mark(self, mark: _Mark, at_ms: int, run: Run) -> None:
        width_ms = max((run.end_ms or 0) // MOMENTS, 1)
        self._take((mark, at_ms // width_ms), at_ms, 1)

    def _take(self, key: tuple[_Mark, int], at_ms: int, count: int) -> None:
        known_ms, known = self.marks.get(key, (at_ms, 0))
        self.marks[key] = min(known_ms, at_ms), known + count


def timeline_rows(timeline: Timeline, run: Run) -> Iterator[Row]:
    for (mark, _), (at_ms, count) in timeline.marks.items():
        yield {
            "run": run.name,
            "lane": mark.lane,
            "kind": mark.kind,
            "at_ms": at_ms,
            "count": count,
            "detail": mark.detail,
        }


def _kind(row: TrackingRow) -> str | None:
    if row.event == "RESUBMIT":
        return "resubmitted" if row.source == SAFETY_NET else None
    return _EVENTS.get(row.event)


def _mark_of(row: LifecycleRow) -> _Mark | None:
    is_mount = row.event == MOUNTED and (row.epoch or 0) > 0
    kind = "copy activated" if is_mount else _MARKS.get(row.event)
    if kind is None:
        return None
    database = row.database if (row.epoch or 0) > 0 else None
    detail = next((each for each in (row.primary, database) if each is not None), "")
    return _Mark(row.server, kind, detail)


def _order(row: LifecycleRow) -> tuple[int, int]:
    """What does not say when it was comes first."""
    return (-1 if row.at_ms is None else row.at_ms), (-1 if row.mono_ns is None else row.mono_ns)
