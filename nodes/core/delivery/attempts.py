"""What a delivery queue waits for: an answer about a message that is on its way, or the time of
the next attempt.

Plain values. What follows is for the queue (`delivery_queue.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nodes.core.delivery.results import Answered, NotNow, Parcel, Result, result_of
from nodes.core.engine.waiting import Waiting
from nodes.core.interface.inputs import TransmissionAnswered
from nodes.core.model.next_hop import NextHop
from nodes.core.sessions.outbound_session import Lease


class Queue(Protocol):
    """What becomes of an attempt."""

    next_hop: NextHop

    def to_one_of(self, parcel: Parcel, targets: tuple[str, ...]) -> None: ...

    def over(self, parcel: Parcel, lease: Lease) -> None: ...

    def stored(self, parcel: Parcel, result: Result) -> None: ...

    def finish(self, parcel: Parcel, result: Result) -> None: ...

    def back_again(self, internal_id: int) -> None: ...

    def try_again(self) -> None: ...

    def remove_if_idle(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Attempt(Waiting):
    queue: Queue
    parcel: Parcel


@dataclass(frozen=True, slots=True)
class ToServer(Attempt):
    """A session to a server; `others` are tried where it cannot be reached."""

    others: tuple[str, ...]

    def ready(self, lease: Lease) -> None:
        self.queue.over(self.parcel, lease)

    def failed(self, reason: str) -> None:
        if self.others:
            self.queue.to_one_of(self.parcel, self.others)
        else:
            self.queue.finish(self.parcel, NotNow(reason))

    def __str__(self) -> str:
        others = f", or else to {self.others[0]}" if self.others else ""
        return f"sends {self.parcel} there{others}"


@dataclass(frozen=True, slots=True)
class Transmission(Attempt):
    """A server has been sent it."""

    lease: Lease

    def answered(self, answer: TransmissionAnswered) -> None:
        self.lease.release()
        self.queue.finish(self.parcel, result_of(self.parcel, answer, self.lease.peer))

    def lost(self, reason: str) -> None:
        self.queue.finish(self.parcel, NotNow(reason, was_offered=True))

    def __str__(self) -> str:
        return f"has done with {self.parcel}, or tries it again"


@dataclass(frozen=True, slots=True)
class IntoMailboxes(Attempt):
    """A mailbox database here has been given it."""

    def delivered(self, delivered: tuple[str, ...], duplicates: tuple[str, ...]) -> None:
        self.queue.stored(self.parcel, Answered("", delivered, duplicates))

    def failed(self, reason: str) -> None:
        self.queue.stored(self.parcel, NotNow(reason))

    def __str__(self) -> str:
        return f"has done with {self.parcel}, or tries it again"


@dataclass(frozen=True, slots=True)
class Refusal(Attempt):
    """It has no next hop that could take it."""

    result: Answered

    def __call__(self) -> None:
        self.queue.finish(self.parcel, self.result)

    def __str__(self) -> str:
        return f"refuses {self.parcel}: {self.result.reply}"


@dataclass(frozen=True, slots=True)
class BackAgain(Waiting):
    """A message was set aside."""

    queue: Queue
    internal_id: int

    def __call__(self) -> None:
        self.queue.back_again(self.internal_id)

    def __str__(self) -> str:
        return f"tries message {self.internal_id} to {self.queue.next_hop} again"


@dataclass(frozen=True, slots=True)
class NextAttempt(Waiting):
    """The whole queue waits."""

    queue: Queue

    def __call__(self) -> None:
        self.queue.try_again()

    def __str__(self) -> str:
        return f"tries the queue to {self.queue.next_hop} again"


@dataclass(frozen=True, slots=True)
class Removal(Waiting):
    """The queue was empty."""

    queue: Queue

    def __call__(self) -> None:
        self.queue.remove_if_idle()

    def __str__(self) -> str:
        return f"removes the queue to {self.queue.next_hop}, if it has been empty for long enough"
