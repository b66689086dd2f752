"""One thing said to one server, and its answer, or that none came in time.

A session that hangs says nothing of the server; so a call has a deadline of its own, shorter
than that of the Send connector, and a session that passed it is not used again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from nodes.core.engine.work import Because, Timer, Work
from nodes.core.interface.copy_commands import CopyCommand
from nodes.core.model.resubmit_request import ResubmitDemand
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import CopyAnswer, Lease, Request, ResubmitAnswer

ANSWER_MS = 30_000
SERVICE = "management"

Then: TypeAlias = Callable[[CopyAnswer], None]
Told: TypeAlias = Callable[[ResubmitAnswer], None]
Use: TypeAlias = Callable[[Lease, "ManagementCall"], None]


class ManagementCall:
    """Under way until `finish`, which is true once."""

    def __init__(self) -> None:
        self.request: Request | None = None
        self.lease: Lease | None = None
        self.timer: Timer | None = None
        self.is_over = False

    def finish(self) -> bool:
        if self.is_over:
            return False
        self.is_over = True
        if self.timer is not None:
            self.timer.cancel()
        return True


class ManagementCalls:
    """Everything that Active Manager says to servers."""

    def __init__(self, work: Work, sessions: Sessions) -> None:
        self._work = work
        self._sessions = sessions

    def say(self, server: str, command: CopyCommand, then: Then, failed: Because) -> None:
        """One of the two is called, once."""

        def use(lease: Lease, call: ManagementCall) -> None:
            def answered(answer: CopyAnswer) -> None:
                lease.release()
                if call.finish():
                    then(answer)

            lease.manage(command, answered, lambda reason: _fail(call, failed, reason))

        self._run(server, use, failed)

    def ask(self, server: str, demand: ResubmitDemand, then: Told, failed: Because) -> None:
        """Ask its Safety Net; one of the two is called, once."""

        def use(lease: Lease, call: ManagementCall) -> None:
            def answered(answer: ResubmitAnswer) -> None:
                lease.release()
                if call.finish():
                    then(answer)

            lease.request_resubmit(demand, answered, lambda reason: _fail(call, failed, reason))

        self._run(server, use, failed)

    def _run(self, server: str, use: Use, failed: Because) -> None:
        call = ManagementCall()
        due_ms = self._work.now_ms + ANSWER_MS
        call.timer = self._work.at(due_ms, lambda: self._too_late(call, failed))

        def ready(lease: Lease) -> None:
            call.lease = lease
            use(lease, call)

        call.request = self._sessions.request(
            server, SERVICE, ready, lambda reason: _fail(call, failed, reason), SERVICE
        )

    def _too_late(self, call: ManagementCall, failed: Because) -> None:
        if not call.finish():
            return
        if call.lease is not None:
            call.lease.hang_up()
        elif call.request is not None:
            call.request.cancel()
        failed("no answer in time")


def _fail(call: ManagementCall, failed: Because, reason: str) -> None:
    if call.finish():
        failed(reason)
