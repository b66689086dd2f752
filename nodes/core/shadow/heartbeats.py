"""What a shadow queue waits for: its next heartbeat, the end of its span, and an answer to either.

Plain values, each known by itself. What follows is for the queue (`shadow_queue.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Then
from nodes.core.interface.inputs import DiscardAnswered
from nodes.core.sessions.outbound_session import Lease, Request
from nodes.core.shadow.discard_questions import Question


class Queue(Protocol):
    """Whose primary is asked."""

    primary: str

    def attempt_ready(self, attempt: Attempt, lease: Lease) -> None: ...

    def attempt_failed(self, attempt: Attempt, reason: str) -> None: ...

    def discards_answered(self, asked: Asked, answer: DiscardAnswered) -> None: ...

    def heartbeat_is_due(self) -> None: ...

    def span_is_over(self) -> None: ...


@dataclass(slots=True, eq=False)
class Attempt(Waiting):
    """One heartbeat under way."""

    queue: Queue
    begun_ms: int
    request: Request | None = None

    def ready(self, lease: Lease) -> None:
        self.queue.attempt_ready(self, lease)

    def failed(self, reason: str) -> None:
        self.queue.attempt_failed(self, reason)

    def __str__(self) -> str:
        return f"asks {self.queue.primary} which shadow messages it may discard"


@dataclass(frozen=True, slots=True)
class Asked(Waiting):
    """`question`, in the session of `lease`; `then` is called when its answer is taken in."""

    queue: Queue
    question: Question
    lease: Lease
    then: Then

    def answered(self, answer: DiscardAnswered) -> None:
        self.queue.discards_answered(self, answer)

    def lost(self, reason: str) -> None:
        """Whoever wanted the session is notified, and a heartbeat says so itself."""

    def __str__(self) -> str:
        return f"discards what {self.queue.primary} names"


@dataclass(frozen=True, slots=True)
class Heartbeat(Waiting):
    queue: Queue

    def __call__(self) -> None:
        self.queue.heartbeat_is_due()

    def __str__(self) -> str:
        return f"sends {self.queue.primary} a heartbeat"


@dataclass(frozen=True, slots=True)
class Span(Waiting):
    """ShadowResubmitTimeSpan."""

    queue: Queue

    def __call__(self) -> None:
        self.queue.span_is_over()

    def __str__(self) -> str:
        return f"asks {self.queue.primary} once more, and else takes its messages over"
