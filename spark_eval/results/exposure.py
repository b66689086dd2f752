"""While messages had fewer than two custodians: a row a stretch, and sums over messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from spark_eval.expected.exposure.stretches import Stretch, is_watched, stretches
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.results.row import Row

Longest = tuple[int, str]
"""Minus its length in ms, and whose: the least is the longest, and of those alike the first."""
_NONE: Longest = (0, "")
_OF_CAUSE = ("messages", "message_seconds", "in_transit_seconds", "longest_seconds")


def exposure_rows(message: Message, run: Run) -> Iterator[Row]:
    for each in stretches(message, run):
        yield {
            "run": run.name,
            "message_id": message.message_id,
            "from_ms": each.lo,
            "to_ms": each.hi,
            "in_transit_ms": each.in_transit_ms,
            "servers": list(each.servers),
            "cause": each.cause,
        }


@dataclass(slots=True)
class _Sum:
    """Of stretches; `messages` that had any."""

    messages: int = 0
    exposed_ms: int = 0
    in_transit_ms: int = 0
    longest: Longest = _NONE

    def take(self, message: str, *found: Stretch) -> None:
        self.messages += bool(found)
        for each in found:
            self.exposed_ms += each.length_ms
            self.in_transit_ms += each.in_transit_ms
            self.longest = min(self.longest, (-each.length_ms, message))

    def add(self, other: _Sum) -> None:
        self.messages += other.messages
        self.exposed_ms += other.exposed_ms
        self.in_transit_ms += other.in_transit_ms
        self.longest = min(self.longest, other.longest)

    def numbers(self) -> dict[str, Any]:
        figures = (self.exposed_ms, self.in_transit_ms, -self.longest[0])
        told = (self.messages, *(round(each / 1000, 3) for each in figures))
        return dict(zip(_OF_CAUSE, told, strict=True))


@dataclass(slots=True)
class Exposure:
    """`watched`: messages of which it can be said; of those, `whole`, and by its cause."""

    watched: int = 0
    whole: _Sum = field(default_factory=_Sum)
    by_cause: dict[str, _Sum] = field(default_factory=dict)

    def add(self, other: Exposure) -> None:
        self.watched += other.watched
        self.whole.add(other.whole)
        for cause, each in other.by_cause.items():
            self.by_cause.setdefault(cause, _Sum()).add(each)

    def count(self, message: Message, run: Run) -> None:
        self.watched += is_watched(message)
        found = stretches(message, run)
        self.whole.take(message.message_id, *found)
        for cause in {each.cause for each in found}:
            own = (each for each in found if each.cause == cause)
            self.by_cause.setdefault(cause, _Sum()).take(message.message_id, *own)

    def numbers(self) -> dict[str, Any]:
        """`exposure` of verdict.json: message-seconds of lab time; causes, the longest first."""
        causes = sorted(self.by_cause.items(), key=lambda each: (-each[1].exposed_ms, each[0]))
        return {
            "watched": self.watched,
            **self.whole.numbers(),
            "worst_message": self.whole.longest[1] or None,
            "by_cause": [{"cause": cause, **each.numbers()} for cause, each in causes],
        }


# of a run that could not be judged
NO_EXPOSURE = Exposure().numbers()
