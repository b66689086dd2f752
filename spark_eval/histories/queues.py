"""What became of a server's delivery queues: when attempts failed, and when something went through.

A queue is named as its rows name it: `database:DB1`, `external:ext1`. Sums: parts of a record add
up to the whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from spark_eval.histories.orders import Order, Orders
from spark_eval.histories.sessions import Session
from spark_eval.read.rows import TrackingRow

_STORED, _CONTEXT = ("DELIVER", "DUPLICATEDELIVER"), "MDB:"
# rows of one input stand so close together, whatever log they are in
TOGETHER_MS = 1_000
SESSION_ENDS = "421"
LOGON_DENIED = "454 4.7.0 Temporary authentication failure"
NOT_ACTIVE = "432 4.2.0 STOREDRIVER; mailbox database is not active on this server"


@dataclass(slots=True)
class Queue:
    """`failures`: times of DEFER rows, `outages` of those that are about the queue; `passes`: when
    something was sent or stored.
    """

    failures: list[int] = field(default_factory=list)
    outages: list[int] = field(default_factory=list)
    passes: Orders = field(default_factory=Orders)

    def add(self, other: Queue) -> None:
        self.failures += other.failures
        self.outages += other.outages
        self.passes.add(other.passes)

    def first_failure(self, after_ms: int, until_ms: int) -> int | None:
        """After `after_ms`, and by `until_ms`."""
        place = bisect_right(self.failures, after_ms)
        found = self.failures[place : place + 1]
        return found[0] if found and found[0] <= until_ms else None

    def may_wait(self, after_ms: int, until_ms: int) -> bool:
        """Whether anything by which the queue itself waits happened between the two."""
        place = bisect_left(self.outages, after_ms)
        return any(at_ms <= until_ms for at_ms in self.outages[place : place + 1])

    def rests(self, after_ms: int, until_ms: int) -> bool:
        """Whether nothing became of any of its mail between the two."""
        passed_ms = self.passes.first_ms(after_ms)
        is_passed = passed_ms is not None and passed_ms < until_ms
        failed_ms = self.first_failure(after_ms, until_ms - 1)
        return failed_ms is None and not is_passed

    def failed_in_a_row(self, by_ms: int, wait_ms: Callable[[int], int]) -> int:
        """How often at most it had failed by then since anything went through: what fails while it
        waits for a retry adds nothing. `wait_ms`: after so many failures, at least.
        """
        passed_ms = self.passes.last_ms(by_ms)
        first = 0 if passed_ms is None else bisect_left(self.failures, passed_ms)
        times, due_ms = 0, 0
        for at_ms in self.failures[first:]:
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
    refusals: Orders = field(default_factory=Orders)
    given_up: dict[str, list[tuple[int, bool, int | None]]] = field(default_factory=dict)

    def add(self, other: Queues) -> None:
        self.refusals.add(other.refusals)
        for name, queue in other.by_name.items():
            self.by_name.setdefault(name, Queue()).add(queue)

    def sort(self) -> None:
        self.refusals.sort()
        for queue in self.by_name.values():
            queue.failures.sort()
            queue.outages.sort()
            queue.passes.sort()

    def take(self, row: TrackingRow) -> None:
        name = queue_of(row)
        if row.event == "FAIL" and row.source == "QUEUE":
            self.refusals.append(order_of(row))
        elif name is not None and row.event == "DEFER":
            queue = self.by_name.setdefault(name, Queue())
            queue.failures.append(row.at_ms)
            queue.outages += [] if is_put_off(row) else [row.at_ms]
        elif name is not None and (row.event == "SEND" or row.event in _STORED):
            self.by_name.setdefault(name, Queue()).passes.append(order_of(row))

    def served(self, name: str, order: Order) -> tuple[int, int]:
        """How often mail had been refused, and had gone through the queue, by then."""
        queue = self.by_name[name]
        return self.refusals.by(order), queue.passes.by(order)

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
    logged: Mapping[str, Queues], sessions: Iterable[tuple[str, Session]]
) -> dict[str, Queues]:
    """By server, what its rows say, in order, and how its sessions ended."""
    found = dict(logged)
    for queues in found.values():
        queues.sort()
    for server, session in sessions:
        if session.ended is not None and session.gave_up is not None:
            ended = (session.ended.at_ms, session.is_known_to_stand, _opened_ms(session))
            known = found.setdefault(server, Queues()).given_up
            insort(known.setdefault(session.gave_up, []), ended, key=lambda x: x[0])
    return found


class Answer(NamedTuple):
    """A server outside put mail off: the n-th time in a row that it did so to this queue."""

    at_ms: int
    nth: int


Said = set[tuple[int, bool, str]]
"""What servers outside answered to one queue: when, whether they put the mail off, of which id."""
OutsideSaid = dict[tuple[str, str], Said]


def said_outside(
    tracking: Iterable[TrackingRow], place_of: Callable[[str], str | None]
) -> OutsideSaid:
    """By server and place. `place_of`: the server outside of an address, if it is outside."""
    found: OutsideSaid = {}
    for row in tracking:
        if row.event == "SEND" or is_answer(row):
            for recipient in row.recipients or ():
                if (place := place_of(recipient)) is not None:
                    said = (row.at_ms, row.event == "DEFER", row.internal_id or "")
                    found.setdefault((row.server, place), set()).add(said)
    return found


def answers_from_outside(said: OutsideSaid) -> dict[tuple[str, str], list[Answer]]:
    """By server and place, in order. A server cannot know whether such an answer was about the
    message.
    """
    return {queue: list(_counted(sorted(known))) for queue, known in said.items()}


def is_answer(row: TrackingRow) -> bool:
    """Whether a reply put the mail off."""
    return row.event == "DEFER" and (row.context or "").startswith("4")


def is_put_off(row: TrackingRow) -> bool:
    """Whether its next hop answered and put this message off, so that it waits for
    MessageRetryInterval by itself. A 421 and a denied logon are about the session, and that a
    mailbox database is not active there about its queue.
    """
    words = (SESSION_ENDS, NOT_ACTIVE, LOGON_DENIED)
    return is_answer(row) and not (row.context or "").startswith(words)


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
