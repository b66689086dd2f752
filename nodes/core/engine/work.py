"""The bench that all parts of a node work at: the time of the input, the effects so far, what waits
for an answer.

A part that needs something durable calls `commit` with what to do then; the promise "durable before
polite" lives in such pairs. Continuations are memory only: after a restart everything is rebuilt
from `DatabaseOpened`. What they wait for is said by `waits`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from nodes.core.engine.awaited import awaited_of
from nodes.core.engine.waiting import Wait, ends_ms, is_limit, then_of
from nodes.core.interface.copy_changes import CopyChange
from nodes.core.interface.effects import (
    ChangeCopy,
    Commit,
    DeliverToMailboxes,
    Effect,
    MeasureConverted,
    ReadSafetyNet,
)
from nodes.core.interface.inputs import CopyChanged, SafetyNetRead
from nodes.core.interface.manager_changes import ManagerChange
from nodes.core.interface.queue_changes import Change
from nodes.core.model.message import BodyHandle, Header
from nodes.core.model.resubmit_request import Position, SafetyNetSource

COMMIT_RETRY_MS = 60_000
"""After a transaction that the disk refused."""
LEAST_PAUSE_MS = 1_000
"""Nothing that failed is tried again sooner: time passes between any two attempts."""
FEW_TIMERS = 1_000
"""So many are never looked through for cancelled ones."""

Then: TypeAlias = Callable[[], None]
Because: TypeAlias = Callable[[str], None]


@dataclass(slots=True)
class Timer:
    """One thing to do at a lab time; `cancel` makes it void."""

    due_ms: int
    action: Then | None

    def cancel(self) -> None:
        self.action = None


@dataclass(frozen=True, slots=True)
class LocalDelivery:
    """What `Work.deliver` needs: one message for mailboxes of one database on this server."""

    database: str
    header: Header
    sender: str
    recipients: tuple[str, ...]
    size_bytes: int
    body: BodyHandle


Delivered: TypeAlias = Callable[[tuple[str, ...], tuple[str, ...]], None]
Read: TypeAlias = Callable[[SafetyNetRead], None]
Changed: TypeAlias = Callable[[CopyChanged], None]
Measured: TypeAlias = Callable[[tuple[int | None, ...]], None]
Report: TypeAlias = Callable[[Any], None]


class Pending(NamedTuple):
    """Who waits for the answer to an effect: one of the two is called, once."""

    then: Callable[..., None]
    failed: Because
    effect: Effect
    asked_ms: int


@dataclass(slots=True)
class Work:
    """Shared by the parts of one node; holds no decision of its own. `report(event)`: other parts
    hear of it at once, which ones the door says in one table. `now_ms`: lab time of the input,
    epoch ms.
    """

    report: Report
    now_ms: int = 0
    effects: list[Effect] = field(default_factory=list)
    _timers: list[tuple[int, int, Timer]] = field(default_factory=list)
    _pending: dict[int, Pending] = field(default_factory=dict)
    _count: int = 0
    _most_timers: int = FEW_TIMERS

    def emit(self, effect: Effect) -> None:
        self.effects.append(effect)

    def take_effects(self) -> tuple[Effect, ...]:
        taken = tuple(self.effects)
        self.effects.clear()
        return taken

    def commit(
        self, changes: tuple[Change | ManagerChange, ...], then: Then, failed: Because
    ) -> None:
        """Ask for one durable transaction; exactly one of `then` and `failed` is called later."""
        number = self._next()
        self._ask(number, Commit(number, changes), then, failed)

    def committed(self, number: int) -> None:
        self._pending.pop(number).then()

    def commit_failed(self, number: int, reason: str) -> None:
        self._pending.pop(number).failed(reason)

    def deliver(
        self, delivery: LocalDelivery, window_ms: int, then: Delivered, failed: Because
    ) -> None:
        """Ask for a delivery into mailboxes here; `then(delivered, duplicates)` or `failed(reason)`
        is called later.
        """
        number = self._next()
        effect = DeliverToMailboxes(
            number,
            delivery.database,
            delivery.header,
            delivery.sender,
            delivery.recipients,
            delivery.size_bytes,
            delivery.body,
            self.now_ms,
            window_ms,
        )
        self._ask(number, effect, then, failed)

    def delivered(
        self, number: int, delivered: tuple[str, ...], duplicates: tuple[str, ...]
    ) -> None:
        self._pending.pop(number).then(delivered, duplicates)

    def delivery_failed(self, number: int, reason: str) -> None:
        self._pending.pop(number).failed(reason)

    def read_safety_net(
        self,
        source: SafetyNetSource,
        after: Position,
        end_ms: int,
        most: int,
        then: Read,
        failed: Because,
    ) -> None:
        """Ask for a page of copies; `then(page)` or `failed(reason)` is called later."""
        number = self._next()
        self._ask(number, ReadSafetyNet(number, source, after, end_ms, most), then, failed)

    def safety_net_read(self, page: SafetyNetRead) -> None:
        self._pending.pop(page.read).then(page)

    def safety_net_not_read(self, number: int, reason: str) -> None:
        self._pending.pop(number).failed(reason)

    def measure_converted(
        self, encoder: str, bodies: tuple[BodyHandle, ...], then: Measured, failed: Because
    ) -> None:
        """Ask what size each body has once it is converted, None where it stays as it is; one of
        `then` and `failed` is called later.
        """
        number = self._next()
        self._ask(number, MeasureConverted(number, encoder, bodies), then, failed)

    def converted_measured(self, number: int, sizes_bytes: tuple[int | None, ...]) -> None:
        self._pending.pop(number).then(sizes_bytes)

    def converted_not_measured(self, number: int, reason: str) -> None:
        self._pending.pop(number).failed(reason)

    def change_copy(self, database: str, what: CopyChange, then: Changed, failed: Because) -> None:
        """Ask for one change of a copy of a mailbox database here; one of `then` and `failed` is
        called later.
        """
        number = self._next()
        self._ask(number, ChangeCopy(number, database, what), then, failed)

    def copy_changed(self, answer: CopyChanged) -> None:
        self._pending.pop(answer.change).then(answer)

    def copy_not_changed(self, number: int, reason: str) -> None:
        self._pending.pop(number).failed(reason)

    def _ask(self, number: int, effect: Effect, then: Callable[..., None], failed: Because) -> None:
        self._pending[number] = Pending(then, failed, effect, self.now_ms)
        self.emit(effect)

    def waits(self) -> Iterator[Wait]:
        """Answers in the order in which they were asked for, then times in theirs; without times
        that only limit another wait.
        """
        for pending in self._pending.values():
            until_ms = ends_ms(pending.then, None)
            awaited = awaited_of(pending.effect)
            yield Wait(awaited, then_of(pending.then), pending.asked_ms, until_ms)
        for due_ms, _, timer in sorted(self._timers, key=lambda entry: entry[:2]):
            if timer.action is not None and not is_limit(timer.action):
                yield Wait("", then_of(timer.action), until_ms=due_ms)

    def at(self, due_ms: int, action: Then) -> Timer:
        timer = Timer(due_ms, action)
        if len(self._timers) >= self._most_timers:
            self._forget_cancelled()
        heapq.heappush(self._timers, (due_ms, self._next(), timer))
        return timer

    def again(self, wait_ms: int, action: Then) -> Timer:
        """A retry, after `wait_ms` and never at once: what failed now would fail for ever at the
        same instant.
        """
        return self.at(self.now_ms + max(wait_ms, LEAST_PAUSE_MS), action)

    def next_deadline_ms(self) -> int | None:
        self._drop_cancelled()
        return self._timers[0][0] if self._timers else None

    def run_due(self) -> None:
        """Do everything that is due at `now_ms`, oldest first; what that makes due at once waits
        for the next call.
        """
        due: list[Timer] = []
        while self._timers and self._timers[0][0] <= self.now_ms:
            due.append(heapq.heappop(self._timers)[2])
        for timer in due:
            if timer.action is not None:
                timer.action()

    def _forget_cancelled(self) -> None:
        """Most time-outs are cancelled long before they are due: as many as still wait may lie
        among them, and no more.
        """
        self._timers = [entry for entry in self._timers if entry[2].action is not None]
        heapq.heapify(self._timers)
        self._most_timers = max(FEW_TIMERS, 2 * len(self._timers))

    def _drop_cancelled(self) -> None:
        while self._timers and self._timers[0][2].action is None:
            heapq.heappop(self._timers)

    def _next(self) -> int:
        self._count += 1
        return self._count
