"""One inbound session: what it may say next, and how long it may stay (SR-6).

ConnectionTimeout is absolute, so a sender that trickles is cut too; ConnectionInactivityTimeout
counts only while the client owes bytes. Neither cuts off an answer that is being made: the session
then closes after the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.config import ServerConfig
from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Then, Timer, Work
from nodes.core.interface.effects import CloseSession, Prologue, SendReply
from nodes.core.interface.replies import (
    R421_CONNECTION_TIMEOUT,
    R421_INACTIVITY_TIMEOUT,
    R421_TOO_MANY_ERRORS,
    AnyReply,
    Reply,
)
from nodes.core.model.outbox import IntoOutbox
from nodes.core.sessions.inbound_states import TRANSITIONS, InboundMove, InboundState


@dataclass(frozen=True, slots=True)
class ClientTime(Waiting):
    """A session of a client has come to a time."""

    session: InboundSession
    act: Then
    words: str

    def __call__(self) -> None:
        self.act()

    def __str__(self) -> str:
        client = self.session.peer or self.session.client_address
        return f"{self.words} session {self.session.name} of {client}"


class InboundSession:
    """`name` is the shell's; `peer` is set once TLS has named the client a server of the
    organisation.
    """

    def __init__(self, name: str, client_address: str, config: ServerConfig, work: Work) -> None:
        self.name = name
        self.client_address = client_address
        self.peer: str | None = None
        self.state = InboundState.READY
        self.announced: Prologue | IntoOutbox | None = None
        self.is_lost = False
        self.is_let_in = False
        self.closes_ms = work.now_ms + config.receive_connection_timeout_ms
        self._most_errors = config.limits.max_protocol_errors
        self._errors = 0
        self._inactivity_ms = config.receive_inactivity_timeout_ms
        self._work = work
        self.active_ms = work.now_ms
        self.is_closed = False
        self._is_over = False
        self._tarpit: Timer | None = None
        self._absolute = work.at(
            self.closes_ms, ClientTime(self, self._connection_timed_out, "closes")
        )
        self._idle: Timer = self._check_at(work.now_ms + self._inactivity_ms)

    def may(self, move: InboundMove) -> bool:
        """Make the move if the table has it."""
        after = TRANSITIONS.get((self.state, move))
        if after is None:
            return False
        self.state = after
        if move in (InboundMove.RESET, InboundMove.ANSWER):
            self.announced = None
        return True

    def active(self) -> None:
        self.active_ms = self._work.now_ms

    def reply(self, reply: AnyReply) -> None:
        """Answer the command that waits, unless nobody is there any more."""
        self.active()
        if not self.is_lost:
            self._work.emit(SendReply(self.name, reply))

    def reply_late(self, reply: Reply, wait_ms: int) -> None:
        """Not before that time is over: the client owes nothing meanwhile (TarpitInterval)."""

        def answer() -> None:
            self._tarpit = None
            self.reply(reply)
            if self._is_over and not self.is_lost:
                self._close(R421_CONNECTION_TIMEOUT)

        if wait_ms and not self.is_lost:
            tarpit = ClientTime(self, answer, "answers")
            self._tarpit = self._work.at(self._work.now_ms + wait_ms, tarpit)
        else:
            self.reply(reply)

    @property
    def may_give_way(self) -> bool:
        """A client that waits for an answer does not."""
        return not (self._owes_answer or self.is_closed or self.peer)

    @property
    def _owes_answer(self) -> bool:
        return self.state is InboundState.OFFERED or self._tarpit is not None

    def send_away(self, reply: Reply) -> None:
        """Close with that word, which is the answer to what waits for one."""
        self.may(InboundMove.ANSWER)
        if not (self.is_lost or self.is_closed):
            self._close(reply)

    def answer_message(self, reply: AnyReply) -> None:
        """Answer the final dot; a session whose time ran out meanwhile closes behind the answer."""
        moved = self.may(InboundMove.ANSWER)
        assert moved, "answered a message that was not offered"
        self.reply(reply)
        if self._is_over and not self.is_lost:
            self._close(R421_CONNECTION_TIMEOUT)

    def not_understood(self) -> None:
        """A client that is not understood again and again is shown the door (MaxProtocolErrors)."""
        self.active()
        self._errors += 1
        if self._errors >= self._most_errors:
            self._close(R421_TOO_MANY_ERRORS)

    def lost(self) -> None:
        self.is_lost = self.is_closed = True
        if self._tarpit is not None:
            self._tarpit.cancel()
        self._absolute.cancel()
        self._idle.cancel()

    def _connection_timed_out(self) -> None:
        self._is_over = True
        if not self._owes_answer:
            self._close(R421_CONNECTION_TIMEOUT)

    def _check_activity(self) -> None:
        quiet_ms = self._work.now_ms - self.active_ms
        if not self._owes_answer and quiet_ms >= self._inactivity_ms:
            self._close(R421_INACTIVITY_TIMEOUT)
            return
        counts_from_ms = self._work.now_ms if self._owes_answer else self.active_ms
        self._idle = self._check_at(counts_from_ms + self._inactivity_ms)

    def _check_at(self, due_ms: int) -> Timer:
        check = ClientTime(self, self._check_activity, "closes, if it is idle,")
        return self._work.at(due_ms, check)

    def _close(self, reply: Reply) -> None:
        self.is_closed = True
        self._absolute.cancel()
        self._idle.cancel()
        self._work.emit(CloseSession(self.name, reply))
