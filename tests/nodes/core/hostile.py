"""A host where what is asked for fails, and fails at once: no time passes but by deadlines.

Every input is counted by its lab time, so that a part which tries again without a pause is seen: it
would go on for ever at one instant. What fails is a choice (`Troubles`); the rest is answered as a
host without trouble would.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from nodes.core.active_manager import ActiveManager
from nodes.core.interface import copy_changes as copies
from nodes.core.interface import effects as fx
from nodes.core.interface import inputs as on
from nodes.core.interface.copy_commands import AskCopyStatus
from nodes.core.model.database_copy import CopyStanding, CopyState, CopyStatus
from nodes.core.node import Node

MINUTE = 60_000


class HotLoop(AssertionError):
    """More inputs than any part has business with."""


@dataclass(frozen=True)
class Troubles:
    """`sessions`: `refused`, `lost` with the first command, or the code that every command is
    answered with. `copy`: what XCOPYSTATUS is answered with, where anything is answered.
    """

    disk_is_full: bool
    sessions: str | int
    copy: CopyState | None = None


@dataclass
class Hostile:
    """One core at a host like that. `most_at_once`: inputs at one instant, and in the minute of the
    start; `most_a_minute`: in any later one.
    """

    core: Node | ActiveManager
    troubles: Troubles
    now_ms: int
    most_at_once: int
    most_a_minute: int
    handled: Counter[str] = field(default_factory=Counter)
    _inputs: deque[on.Input] = field(default_factory=deque)
    _open: set[str] = field(default_factory=set)
    _at_once: int = 0
    _by_minute: Counter[int] = field(default_factory=Counter)

    def give(self, happened: on.Input) -> None:
        self._inputs.append(happened)
        while self._inputs:
            self._handle(self._inputs.popleft())

    def run(self, for_ms: int) -> None:
        end_ms = self.now_ms + for_ms
        while (due_ms := self.core.next_deadline_ms()) is not None and due_ms <= end_ms:
            if due_ms > self.now_ms:
                self.now_ms, self._at_once = due_ms, 0
            self.give(on.DeadlineReached())

    def _handle(self, happened: on.Input) -> None:
        self._count(happened)
        for effect in self.core.handle(happened, self.now_ms):
            self._inputs.extend(self._answers(effect))

    def _count(self, happened: on.Input) -> None:
        minute = self.now_ms // MINUTE
        self._at_once += 1
        self._by_minute[minute] += 1
        self.handled[type(happened).__name__] += 1
        if self._at_once > self.most_at_once:
            raise HotLoop(f"{self._at_once} inputs at one instant: {self.handled}")
        if len(self._by_minute) > 1 and self._by_minute[minute] > self.most_a_minute:
            raise HotLoop(f"{self._by_minute[minute]} inputs in a minute: {self.handled}")

    def _answers(self, effect: fx.Effect) -> list[on.Input]:
        match effect:
            case fx.Commit(number):
                full = self.troubles.disk_is_full
                return [on.CommitFailed(number, "full") if full else on.Committed(number)]
            case fx.ExpireSafetyNet(now_ms):
                return [on.SafetyNetExpired((), now_ms)]
            case fx.ReadSafetyNet(number):
                return [on.SafetyNetNotRead(number, "disk error")]
            case fx.DeliverToMailboxes(delivery):
                return [on.MailboxDeliveryFailed(delivery, "disk error")]
            case fx.ChangeCopy(number, database, copies.OpenCopy(state)):
                return [on.CopyChanged(number, _standing(database, state))]
            case fx.CleanUpDeliveredTo(database):
                return [on.DeliveredToCleanedUp(database, 0, 0, failure="disk error")]
            case fx.ChangeCopy(number):
                return [on.CopyNotChanged(number, "disk error")]
            case fx.OpenSession(session):
                return self._opened(session)
            case fx.HangUp(session):
                self._open.discard(session)
            case fx.Transmit() | fx.AskDiscard() | fx.RequestResubmit() | fx.ManageCopy():
                return self._answer(effect)
        return []

    def _opened(self, session: str) -> list[on.Input]:
        if self.troubles.sessions == "refused":
            return [on.SessionFailed(session, "connection refused")]
        self._open.add(session)
        return [on.SessionOpened(session, True)]

    def _answer(
        self, effect: fx.Transmit | fx.AskDiscard | fx.RequestResubmit | fx.ManageCopy
    ) -> list[on.Input]:
        session, code = effect.session, self.troubles.sessions
        if session not in self._open:
            return []
        if isinstance(code, str):
            self._open.discard(session)
            return [on.SessionLost(session, "reset")]
        match effect:
            case fx.Transmit():
                return [on.TransmissionAnswered(session, code, "no")]
            case fx.AskDiscard():
                return [on.DiscardRefused(session, code, "no")]
            case fx.RequestResubmit():
                return [on.ResubmitRefused(session, code, "no")]
            case fx.ManageCopy(_, AskCopyStatus()) if self.troubles.copy is not None:
                return [on.CopyStatusAnswered(session, CopyStatus(self.troubles.copy, 1, 3, 1, 1))]
        return [on.CopyCommandRefused(session, code, "no")]


def _standing(database: str, state: CopyState) -> CopyStanding:
    return CopyStanding(database, state, 0, 1, 3, 0, 1, 3, 0, 1, 0, 0, ((0, 0),))
