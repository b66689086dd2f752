"""What all mail of a run shows together: how fast the lab was, and how much mail each server had.
Sums: parts of a run's mail add up to the whole.

A simulator's machine takes no time. On containers a disk may stop all servers at once: a sender
waits for its 250, and no server writes a line. Such a moment is nobody's delay. Silence while
nobody waits is none, nor that of one server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from spark_eval.histories.message import Message
from spark_eval.histories.sending import OVER_CONNECTION_RATE, OVER_RATE, Attempt
from spark_eval.intervals.interval import FOREVER_MS, Interval, shared_ms
from spark_eval.read.logs import Logs
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow

# how many empty pieces of time in a row are a standstill
STILL_PIECES = 4
EXPIRED = "QUEUE.Expired"
NO_BODY = "e3b0c44298fc1c14"  # SHA-256 of nothing


class Load(NamedTuple):
    """How many messages a server came to answer for, and when first and last."""

    messages: int
    first_ms: int
    last_ms: int

    def plus(self, other: Load) -> Load:
        return Load(
            self.messages + other.messages,
            min(self.first_ms, other.first_ms),
            max(self.last_ms, other.last_ms),
        )

    @property
    def per_ms(self) -> float | None:
        """None where all came at once."""
        between_ms = self.last_ms - self.first_ms
        return self.messages / between_ms if between_ms else None


class Logged(NamedTuple):
    """How many rows say that a message was sent on or made redundant, and the first."""

    messages: int
    first: tuple[int, Ref]

    def plus(self, other: Logged) -> Logged:
        return Logged(self.messages + other.messages, min(self.first, other.first))


class UnderWay(NamedTuple):
    """A message that somebody was sending, from when to when at the latest. `counts` for
    MessageRateLimit, `connects` for MaxConnectionRatePerMinute; None where nobody knows.
    """

    at: Interval
    size_bytes: int
    counts: bool | None
    connects: bool | None


@dataclass(slots=True)
class Traffic:
    """`takings`: how often a sender waited for its 250 for so many ms; `still`: while nobody did
    anything, and somebody waited for a reply; `loads` by server; `strange`: digests of bodies that
    are seen in place of another one, and `texts`, whose message such a body is, of several the
    first; `sent` by server, and `tried`, how often at most a server said a message in vain;
    `under_way` from the workload to each server.
    """

    takings: Counter[int] = field(default_factory=Counter)
    still: set[Interval] = field(default_factory=set)
    loads: dict[str, Load] = field(default_factory=dict)
    texts: dict[str, tuple[str, Ref]] = field(default_factory=dict)
    sent: dict[str, Logged] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)
    strange: set[str] = field(default_factory=set)
    under_way: dict[str, list[UnderWay]] = field(default_factory=dict)

    def add(self, other: Traffic) -> None:
        self.takings += other.takings
        self.still |= other.still
        self.tried += other.tried
        self.strange |= other.strange
        for server, load in other.loads.items():
            known = self.loads.get(server)
            self.loads[server] = load if known is None else known.plus(load)
        for server, logged in other.sent.items():
            self.sent[server] = self._plus(server, logged)
        for server, mail in other.under_way.items():
            self.under_way.setdefault(server, []).extend(mail)
        for body, owner in other.texts.items():
            self.texts[body] = min(self.texts.get(body, owner), owner)

    def _plus(self, server: str, logged: Logged) -> Logged:
        known = self.sent.get(server)
        return logged if known is None else known.plus(logged)

    def log(self, row: TrackingRow) -> None:
        self.sent[row.server] = self._plus(row.server, Logged(1, (row.at_ms, row.ref)))

    @property
    def taking_ms(self) -> int | None:
        """What a sender waited for its 250 in the median."""
        return median(self.takings)


def traffic_of(messages: Sequence[Message], silent: Sequence[Interval]) -> Traffic:
    """All but `texts`. `silent`: while no server wrote a line."""
    found = Traffic(strange=strange_bodies(messages))
    for message in messages:
        for each in message.with_dsns:
            _take(found, each, silent)
    return found


def _take(found: Traffic, message: Message, silent: Sequence[Interval]) -> None:
    for attempt in message.attempts:
        if attempt.started_ms is not None:
            end_ms = FOREVER_MS if attempt.ended_ms is None else attempt.ended_ms
            at, size = Interval(attempt.started_ms, end_ms), _sent_bytes(message)
            found.still.update(each for each in silent if at.covers(each.lo, each.hi))
            if size is not None:
                counts, connects = _counts(attempt, message), _connects(attempt, message)
                under_way = UnderWay(at, size, counts, connects)
                found.under_way.setdefault(attempt.called, []).append(under_way)
            if attempt.outcome == "ok" and attempt.ended_ms is not None:
                found.takings[attempt.ended_ms - attempt.started_ms] += 1
    for row in message.of_event("SEND", "HAREDIRECT"):
        found.log(row)
    for row in message.tracking:
        found.tried[row.server] += in_vain(row)
    for key, primary in message.primaries.items():
        if primary.born is not None:
            born = Load(1, primary.born.at_ms, primary.born.at_ms)
            known = found.loads.get(key.server)
            found.loads[key.server] = born if known is None else known.plus(born)


def _counts(attempt: Attempt, message: Message) -> bool | None:
    """Whether its server counted it among those of a minute: what was let through alone, and what
    goes into an Outbox never.
    """
    if message.is_internal or (attempt.reply or "").startswith((OVER_RATE, OVER_CONNECTION_RATE)):
        return False
    return True if attempt.outcome == "ok" else None


def _connects(attempt: Attempt, message: Message) -> bool | None:
    """Whether its server counted its connection among those of a minute: one that says a recipient
    and is not refused for that, each a connection of its own.
    """
    if message.is_internal or (attempt.reply or "").startswith(OVER_CONNECTION_RATE):
        return False
    return True if attempt.outcome == "ok" else None


def in_vain(row: TrackingRow) -> int:
    """How often at most its server said the message to another one that did not take it, or of
    which it heard no answer, by a row: what expires is not said.
    """
    if row.event in ("HAREDIRECT", "HAREDIRECTFAIL"):
        return (row.attempts or 0) - (row.event == "HAREDIRECT")
    is_answered = row.event == "FAIL" and not (row.recipient_status or "").endswith(EXPIRED)
    return int(row.event == "DEFER" or is_answered)


def _sent_bytes(message: Message) -> int | None:
    return message.sent.content.size if message.sent else None


def strange_bodies(messages: Iterable[Message]) -> set[str]:
    """Digests of bodies that recipients see, and that are not what was sent."""
    found = {
        seen.content.body
        for message in messages
        for seen in message.visible
        if message.sent and seen.content.body != message.sent.content.body
    }
    return {body for body in found if body is not None and body != NO_BODY}


def owners_of(bodies: Container[str | None], messages: Iterable[Message]) -> Traffic:
    """`texts` alone: whose each of those bodies is, of those that were sent at all."""
    found: dict[str, tuple[str, Ref]] = {}
    for message in messages:
        body = message.sent.content.body if message.sent else None
        if message.sent and body is not None and body in bodies:
            owner = (message.message_id, message.sent.ref)
            found[body] = min(found.get(body, owner), owner)
    return Traffic(texts=found)


def median(counts: Counter[int]) -> int | None:
    """Between the two in the middle, where there are two."""
    total, passed, low = sum(counts.values()), 0, None
    for value, count in sorted(counts.items()):
        passed += count
        if low is None and passed * 2 >= total:
            low = value
        if passed * 2 > total:
            return (low + value) // 2 if low is not None else value
    return low


def silences(logs: Logs) -> list[Interval]:
    """While no server wrote a line of a log, for a wall second and more."""
    piece_ms = logs.piece_ms
    return [
        Interval((before + 1) * piece_ms, after * piece_ms)
        for before, after in pairwise(sorted(logs.pieces))
        if after - before > STILL_PIECES
    ]


def stood_still_ms(still: Iterable[Interval], start_ms: int, end_ms: int) -> int:
    """How much of the time between two moments everything stood still."""
    return shared_ms(still, start_ms, end_ms)
