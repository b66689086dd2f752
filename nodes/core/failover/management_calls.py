"""One thing said to one server, and its answer, or that none came in time.

A session that hangs says nothing of the server; so a call has a deadline of its own, shorter
than that of the Send connector, and a session that passed it is not used again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from nodes.core.engine.awaited import question_of
from nodes.core.engine.waiting import Waiting, then_of
from nodes.core.engine.work import Because, Timer, Work
from nodes.core.interface.copy_commands import CopyCommand
from nodes.core.model.resubmit_request import ResubmitDemand
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import CopyAnswer, Lease, Request, ResubmitAnswer

ANSWER_MS = 30_000
SERVICE = "management"

Then: TypeAlias = Callable[[CopyAnswer], None]
Told: TypeAlias = Callable[[ResubmitAnswer], None]


@dataclass(slots=True)
class ManagementCall(Waiting):
    """Under way until it is over: then `then` or `failed` was called, once."""

    question: CopyCommand | ResubmitDemand
    then: Callable[[Any], None]
    failed: Because
    request: Request | None = None
    lease: Lease | None = None
    timer: Timer | None = None
    is_over: bool = False

    def __str__(self) -> str:
        then = then_of(self.then)
        return then if self.lease else f"sends {question_of(self.question)}, and {then}"

    @property
    def until_ms(self) -> int | None:
        return None if self.timer is None else self.timer.due_ms

    def ready(self, lease: Lease) -> None:
        self.lease = lease
        if isinstance(self.question, ResubmitDemand):
            lease.request_resubmit(self.question, self.answered, self.lost)
        else:
            lease.manage(self.question, self.answered, self.lost)

    def answered(self, answer: CopyAnswer | ResubmitAnswer) -> None:
        assert self.lease is not None
        self.lease.release()
        if self._finish():
            self.then(answer)

    def lost(self, reason: str) -> None:
        if self._finish():
            self.failed(reason)

    def too_late(self) -> None:
        if not self._finish():
            return
        if self.lease is not None:
            self.lease.hang_up()
        elif self.request is not None:
            self.request.cancel()
        self.failed("no answer in time")

    def _finish(self) -> bool:
        if self.is_over:
            return False
        self.is_over = True
        if self.timer is not None:
            self.timer.cancel()
        return True


@dataclass(frozen=True, slots=True)
class AnswerLimit(Waiting):
    """A call has had its answer by then, or has none."""

    call: ManagementCall

    def __call__(self) -> None:
        self.call.too_late()

    def __str__(self) -> str:
        return f"waits no longer: {self.call}"

    @property
    def is_limit(self) -> bool:
        return True


class ManagementCalls:
    """Everything that Active Manager says to servers."""

    def __init__(self, work: Work, sessions: Sessions) -> None:
        self._work = work
        self._sessions = sessions

    def say(self, server: str, command: CopyCommand, then: Then, failed: Because) -> None:
        """One of the two is called, once."""
        self._run(server, ManagementCall(command, then, failed))

    def ask(self, server: str, demand: ResubmitDemand, then: Told, failed: Because) -> None:
        """Ask its Safety Net; one of the two is called, once."""
        self._run(server, ManagementCall(demand, then, failed))

    def _run(self, server: str, call: ManagementCall) -> None:
        call.timer = self._work.at(self._work.now_ms + ANSWER_MS, AnswerLimit(call))
        call.request = self._sessions.request(server, SERVICE, call.ready, call.lost, SERVICE)
