"""Back pressure as a server's own log says it: which level, from when to when (TL-8, F§6).

A row says of one resource that its level changed, and at which figure. The server is at the highest
level of its resources; a life of its process begins at normal. What the rows say is taken here as
it stands; whether they may say so is for a claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.csv_rows import integer
from spark_eval.read.rows import LifecycleRow

EVENT = "back-pressure"
NORMAL, MEDIUM, HIGH = 0, 1, 2
LEVELS = ("normal", "medium", "high")
DISK, QUEUE = "DatabaseUsedSpace", "SubmissionQueue"
# what mail takes in a database, with its indexes and a copy in Safety Net, beside a new database
TIMES, EMPTY_BYTES = 4, 1024 * 1024


class Thresholds(NamedTuple):
    """Of one resource, each for its way from level to level."""

    low_to_medium: int
    medium_to_high: int
    high_to_medium: int
    medium_to_low: int

    def fits(self, before: int, after: int, figure: int) -> bool:
        """Whether the figure takes the level there."""
        return self._after(before, figure) == after

    def _after(self, before: int, figure: int) -> int:
        falls_to_medium = before == HIGH and figure <= self.high_to_medium
        if figure >= self.medium_to_high or (before == HIGH and not falls_to_medium):
            return HIGH
        falls_to_normal = figure <= self.medium_to_low
        if figure >= self.low_to_medium or (before != NORMAL and not falls_to_normal):
            return MEDIUM
        return NORMAL


DEFAULTS: Mapping[str, Thresholds] = {
    DISK: Thresholds(96, 99, 97, 94),
    QUEUE: Thresholds(9_999, 15_000, 10_000, 2_000),
}


class Limits(NamedTuple):
    """`volume_bytes`: 0 where nobody watches it; its use is looked at every `interval_ms`;
    `resubmission`: so many messages in a delivery queue make a resubmission wait, which goes in
    pages of `page` (SN-19).
    """

    volume_bytes: int
    interval_ms: int
    resubmission: int
    page: int
    thresholds: Mapping[str, Thresholds]

    def may_be_short(self, mail_bytes: int) -> bool:
        """Whether so much mail alone, wherever it is, may keep the volume short of room."""
        most = mail_bytes * TIMES + EMPTY_BYTES
        return most * 100 >= self.volume_bytes * self.thresholds[DISK].medium_to_low


def limits_of(given: Mapping[str, str]) -> Limits:
    """Of `TransportService` of a plan."""

    def number(name: str, default: int) -> int:
        found = integer(given.get(name))
        return default if found is None else found

    ways = ("LowToMedium", "MediumToHigh", "HighToMedium", "MediumToLow")
    return Limits(
        number("QueueDatabaseVolumeSize", 0),
        number("ResourceMonitoringInterval", 2_000),
        number("ResubmissionQueueLength", 1_000),
        number("SafetyNetPageSize", 50),
        {
            resource: Thresholds(
                *(
                    number(f"{resource}{way}", default)
                    for way, default in zip(ways, of, strict=True)
                )
            )
            for resource, of in DEFAULTS.items()
        },
    )


class Span(NamedTuple):
    """While a server was at `level` or above: perhaps in `possible`, surely in `certain`."""

    level: int
    possible: Interval
    certain: Interval


def spans_of(rows: Iterable[LifecycleRow], lives: Sequence[int], slack_ms: int) -> tuple[Span, ...]:
    """Of one server; `lives`: when each began."""
    begun: dict[int, int] = {}
    found: list[Span] = []
    for at_ms, level in _levels(rows, lives):
        for each in (MEDIUM, HIGH):
            if level >= each:
                begun.setdefault(each, at_ms)
            elif each in begun:
                found.append(_span(each, begun.pop(each), at_ms, slack_ms))
    found += [_span(each, since_ms, FOREVER_MS, slack_ms) for each, since_ms in begun.items()]
    return tuple(sorted(found))


def _span(level: int, from_ms: int, to_ms: int, slack_ms: int) -> Span:
    possible = Interval(from_ms - slack_ms, to_ms + slack_ms)
    return Span(level, possible, Interval(from_ms + slack_ms, to_ms - slack_ms))


def _levels(rows: Iterable[LifecycleRow], lives: Sequence[int]) -> list[tuple[int, int]]:
    """From when on the server is at which level."""
    said = [
        (row.at_ms, row.resource or "", LEVELS.index(row.to))
        for row in rows
        if row.event == EVENT and row.at_ms is not None and row.to in LEVELS
    ]
    now: dict[str, int] = {}
    found = []
    for at_ms, resource, level in sorted([*said, *((life_ms, "", 0) for life_ms in lives)]):
        if resource:
            now[resource] = level
        else:
            now.clear()
        found.append((at_ms, max(now.values(), default=NORMAL)))
    return found
