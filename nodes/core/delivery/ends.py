"""The disk writes down what of a message has ended: what follows, as values (`delivery.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nodes.core.delivery.dsn import Report
from nodes.core.delivery.tracked import End, Tracked
from nodes.core.engine.waiting import Waiting
from nodes.core.model.message import DiscardNotification


class Messages(Protocol):
    """Whose messages they are."""

    def advance(self, tracked: Tracked) -> None: ...

    def ends_written(self, writing: EndsWriting) -> None: ...

    def ends_not_written(self, writing: EndsWriting) -> None: ...


@dataclass(frozen=True, slots=True)
class EndsWriting(Waiting):
    """`completes`: the message itself ends, with a `notification` where its shadow is held.
    `has_holder`: who holds it is written with the rest.
    """

    messages: Messages
    tracked: Tracked
    ends: tuple[End, ...]
    reports: tuple[Report, ...]
    has_holder: bool
    completes: bool
    notification: DiscardNotification | None

    def committed(self) -> None:
        self.messages.ends_written(self)

    def refused(self, reason: str) -> None:
        self.messages.ends_not_written(self)

    def __str__(self) -> str:
        internal_id = self.tracked.message.internal_id
        if not self.completes:
            return f"goes on with message {internal_id}"
        if self.notification is None:
            return f"has done with message {internal_id}"
        return f"lets {self.notification.shadow_server} discard the shadow of message {internal_id}"


@dataclass(frozen=True, slots=True)
class EndsAgain(Waiting):
    messages: Messages
    tracked: Tracked

    def __call__(self) -> None:
        self.messages.advance(self.tracked)

    def __str__(self) -> str:
        internal_id = self.tracked.message.internal_id
        return f"writes down again what of message {internal_id} has ended"
