"""What became of a server's delivery queues: when attempts failed, and when something went through.

A queue is named as its rows name it: `database:DB1`, `external:ext1`. Rows are in the order of
their server.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from spark_eval.next.histories.sessions import Session
from spark_eval.next.read.names import Ref
from spark_eval.next.read.rows import TrackingRow

_STORED, _CONTEXT = ("DELIVER", "DUPLICATEDELIVER"), "MDB:"
# rows of one input stand so close together, whatever log they are in
TOGETHER_MS = 1_000
Order = tuple[int, int, Ref]


@dataclass(slots=True)
class Queue:
    """`failures`: times of DEFER rows; `passes`: when something was sent or stored."""

    failures: list[int] = field(default_factory=list)
    passes: list[Order] = field(default_factory=list)

    def first_failure(self, after_ms: int, until_ms: int) -> int | None:
        """After `after_ms`, and by `until_ms`."""
        place = bisect_right(self.failures, after_ms)
        found = self.failures[place : place + 1]
        return found[0] if found and found[0] <= until_ms else None

    def rests(self, after_ms: int, until_ms: int) -> bool:
        """Whether nothing became of any of its mail between the two."""
        place = bisect_right(self.passes, after_ms, key=lambda order: order[0])
        passes = self.passes[place : place + 1]
        is_passed = bool(passes) and passes[0][0] < until_ms
        failed_ms = self.first_failure(after_ms, until_ms - 1)
        return failed_ms is None and not is_passed

    def failed_in_a_row(self, by_ms: int, wait_ms: Callable[[int], int]) -> int:
        """How often at most it had failed by then since anything went through: what fails while it
        waits for a retry adds nothing. `wait_ms`: after so many failures, at least.
        """
        place = bisect_right(self.passes, by_ms, key=lambda order: order[0])
        passed_ms = self.passes[place - 1][0] if place else -1
        times, due_ms = 0, 0
        for at_ms in self.failures[bisect_left(self.failures, passed_ms) :]:
            if at_ms > by_ms:
                break
            if at_ms >= due_ms:
                times += 1
                due_ms = at_ms + wait_ms(times)
        return times


@dataclass(slots=True)
class Queues:
    """Of one server: by name; `refusals`: when it gave mail up for good; `given_up`: by reason,
    when sessions ended otherwise than in good order (at_ms), whether they had stood, and since
    when they had been opened for a delivery.
    """

    by_name: dict[str, Queue] = field(default_factory=dict)
    refusals: list[Order] = field(default_factory=list)
    given_up: dict[str, list[tuple[int, bool, int | None]]] = field(default_factory=dict)

    def served(self, name: str, order: Order) -> tuple[int, int]:
        """How often mail had been refused, and had gone through the queue, by then."""
        queue = self.by_name[name]
        return bisect_right(self.refusals, order), bisect_right(queue.passes, order)

    def opened_ms(self, row: TrackingRow) -> int | None:
        """Of a failed attempt that reached nobody: when the session was opened that ended for its
        reason, of several the last; None of any other.
        """
        return max(self.all_opened_ms(row), default=None)

    def all_opened_ms(self, row: TrackingRow) -> list[int]:
        known = self.given_up.get(row.context or "", [])
        first = bisect_left(known, row.at_ms - TOGETHER_MS, key=lambda ended: ended[0])
        after = bisect_right(known, row.at_ms + TOGETHER_MS, key=lambda ended: ended[0])
        near = known[first:after]
        if any(had_stood for _, had_stood, _ in near):
            return []
        return [opened for _, _, opened in near if opened is not None]


def order_of(row: TrackingRow) -> Order:
    return row.at_ms, row.mono_ns or 0, row.ref


def queue_of(row: TrackingRow) -> str | None:
    """The queue that a row is about."""
    if row.event in _STORED and (row.context or "").startswith(_CONTEXT):
        return f"database:{(row.context or '')[len(_CONTEXT) :]}"
    return row.fork


def queues_of(
    tracking: Iterable[TrackingRow], sessions: Iterable[tuple[str, Session]]
) -> dict[str, Queues]:
    """By server."""
    found: dict[str, Queues] = {}
    for row in sorted(tracking, key=order_of):
        _take(found.setdefault(row.server, Queues()), row)
    for server, session in sessions:
        if session.ended is not None and session.gave_up is not None:
            ended = (session.ended.at_ms, session.is_known_to_stand, _opened_ms(session))
            known = found.setdefault(server, Queues()).given_up
            insort(known.setdefault(session.gave_up, []), ended, key=lambda x: x[0])
    return found


def _take(queues: Queues, row: TrackingRow) -> None:
    name = queue_of(row)
    if row.event == "FAIL" and row.source == "QUEUE":
        queues.refusals.append(order_of(row))
    elif name is not None and row.event == "DEFER":
        queues.by_name.setdefault(name, Queue()).failures.append(row.at_ms)
    elif name is not None and (row.event == "SEND" or row.event in _STORED):
        queues.by_name.setdefault(name, Queue()).passes.append(order_of(row))


class Answer(NamedTuple):
    """A server outside put mail off: the n-th time in a row that it did so to this queue."""

    at_ms: int
    nth: int


def answers_from_outside(
    tracking: Iterable[TrackingRow], place_of: Callable[[str], str | None]
) -> dict[tuple[str, str], list[Answer]]:
    """By server and place, in order. `place_of`: the server outside of an address, if it is
    outside. A server cannot know whether such an answer was about the message.
    """
    found: dict[tuple[str, str], set[tuple[int, bool, str]]] = {}
    for row in tracking:
        if row.event == "SEND" or is_answer(row):
            for recipient in row.recipients or ():
                if (place := place_of(recipient)) is not None:
                    said = (row.at_ms, row.event == "DEFER", row.internal_id or "")
                    found.setdefault((row.server, place), set()).add(said)
    return {queue: list(_counted(sorted(said))) for queue, said in found.items()}


def is_answer(row: TrackingRow) -> bool:
    """Whether a reply put the mail off."""
    return row.event == "DEFER" and (row.context or "").startswith("4")


def _counted(said: Iterable[tuple[int, bool, str]]) -> Iterator[Answer]:
    nth = 0
    for at_ms, is_put_off, _ in said:
        nth = nth + 1 if is_put_off else 0
        if is_put_off:
            yield Answer(at_ms, nth)


def _opened_ms(session: Session) -> int | None:
    """Of one that was opened for a delivery and never stood, so that nothing else used it."""
    is_own = not session.is_known_to_stand and session.purpose == "delivery"
    return session.opened.at_ms if is_own and session.opened else None
