"""One outbound session, the request that it was opened for, and the lease of whoever uses it now.

Each question has one answer, or its loss. A lease knows neither how sessions are pooled nor when
one is given up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from nodes.core.engine.work import Because, Timer, Work
from nodes.core.interface.copy_commands import CopyCommand
from nodes.core.interface.effects import (
    AskDiscard,
    Effect,
    ManageCopy,
    PassCommand,
    PassedCommand,
    PassMessage,
    Prologue,
    RequestResubmit,
    Transmit,
)
from nodes.core.interface.inputs import (
    ActiveCopyAnswered,
    CopyCommandRefused,
    CopyStatusAnswered,
    DiscardAnswered,
    DismountAnswered,
    MountAnswered,
    PassedCommandAnswered,
    ResubmitAnswered,
    ResubmitRefused,
    SeedPromised,
    TransmissionAnswered,
)
from nodes.core.model.message import BodyHandle, Envelope
from nodes.core.model.resubmit_request import ResubmitDemand
from nodes.core.sessions.outbound_states import SessionMove, SessionState

Ready: TypeAlias = Callable[["Lease"], None]
Answered: TypeAlias = Callable[[TransmissionAnswered], None]
DiscardsAnswered: TypeAlias = Callable[[DiscardAnswered], None]
ResubmitAnswer: TypeAlias = ResubmitAnswered | ResubmitRefused
CopyAnswer: TypeAlias = (
    CopyStatusAnswered
    | MountAnswered
    | DismountAnswered
    | SeedPromised
    | ActiveCopyAnswered
    | CopyCommandRefused
)
PassedAnswered: TypeAlias = Callable[[PassedCommandAnswered], None]
RequestAnswered: TypeAlias = Callable[[ResubmitAnswer], None]
CommandAnswered: TypeAlias = Callable[[CopyAnswer], None]


@dataclass(frozen=True, slots=True)
class Awaited:
    """Who waits for an answer: one of the two is called, once."""

    answered: Callable[[Any], None]
    lost: Because
    effect: Effect
    asked_ms: int


@dataclass(slots=True)
class Session:
    """One outbound session and who waits for its next answer."""

    name: str
    number: int
    peer: str
    service: str
    opened_ms: int
    is_apart: bool = False
    state: SessionState = SessionState.OPENING
    offers_shadow: bool = False
    database_id: str = ""
    messages: int = 0
    request: Request | None = None
    awaited: Awaited | None = None
    timer: Timer | None = None


class Pool(Protocol):
    """What a session comes from, and goes back to."""

    work: Work

    def use(self, session: Session, move: SessionMove) -> None: ...

    def release(self, session: Session) -> None: ...

    def hang_up(self, session: Session) -> None: ...

    def withdraw(self, wish: Request) -> None: ...


@dataclass(slots=True)
class Request:
    """A wish for a session to `peer`; `cancel` withdraws it, or hangs up what it has become."""

    peer: str
    service: str
    purpose: str
    ready: Ready
    failed: Because
    sessions: Pool
    asked_ms: int
    session: Session | None = None
    over: bool = False

    def cancel(self) -> None:
        if not self.over:
            self.over = True
            self.sessions.withdraw(self)


@dataclass(slots=True)
class Lease:
    """The right to use one open session until `release` or until it is lost."""

    session: Session
    sessions: Pool

    @property
    def peer(self) -> str:
        return self.session.peer

    @property
    def is_open(self) -> bool:
        return self.session.state is not SessionState.CLOSED

    @property
    def offers_shadow(self) -> bool:
        return self.session.offers_shadow

    def transmit(
        self,
        prologue: Prologue | None,
        envelope: Envelope,
        body: BodyHandle,
        answered: Answered,
        lost: Because,
    ) -> None:
        self.session.messages += 1
        effect = Transmit(self.session.name, prologue, envelope, body)
        self._say(SessionMove.TRANSMIT, effect, answered, lost)

    def pass_command(self, command: PassedCommand, answered: PassedAnswered, lost: Because) -> None:
        effect = PassCommand(self.session.name, command)
        self._say(SessionMove.REQUEST, effect, answered, lost)

    def pass_message(
        self, envelope: Envelope, body: BodyHandle, answered: Answered, lost: Because
    ) -> None:
        self.session.messages += 1
        effect = PassMessage(self.session.name, envelope, body)
        self._say(SessionMove.TRANSMIT, effect, answered, lost)

    def ask(
        self, known_database_id: str, confirmed: int, answered: DiscardsAnswered, lost: Because
    ) -> None:
        effect = AskDiscard(self.session.name, known_database_id, confirmed)
        self._say(SessionMove.ASK, effect, answered, lost)

    def request_resubmit(
        self, demand: ResubmitDemand, answered: RequestAnswered, lost: Because
    ) -> None:
        effect = RequestResubmit(self.session.name, demand)
        self._say(SessionMove.REQUEST, effect, answered, lost)

    def manage(self, command: CopyCommand, answered: CommandAnswered, lost: Because) -> None:
        effect = ManageCopy(self.session.name, command)
        self._say(SessionMove.REQUEST, effect, answered, lost)

    def _say(
        self, move: SessionMove, effect: Effect, answered: Callable[[Any], None], lost: Because
    ) -> None:
        self.session.awaited = Awaited(answered, lost, effect, self.sessions.work.now_ms)
        self.sessions.use(self.session, move)
        self.sessions.work.emit(effect)

    def release(self) -> None:
        self.sessions.release(self.session)

    def hang_up(self) -> None:
        self.sessions.hang_up(self.session)
