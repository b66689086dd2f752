"""Breakpoints hold a node at a point in the protocol, for the lab alone (design decision 12).

What is held is one effect or one input, and what follows it in its lane: a session, or a database,
which writes and reads in order. The rest of the node goes on, and the core knows nothing. How the
lab is notified, and how it lets go, is the host's: `held` is called with the names of the
breakpoints and with what lets go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TypeAlias

from nodes.core.interface.effects import (
    ChangeCopy,
    CleanUpDeliveredTo,
    CloseSession,
    Commit,
    DeliverToMailboxes,
    Effect,
    ExpireSafetyNet,
    HangUp,
    MeasureConverted,
    ReadSafetyNet,
    SendReply,
)
from nodes.core.interface.inputs import (
    CommitFailed,
    Committed,
    Input,
    SessionLost,
    TransmissionAnswered,
)
from nodes.shell.chaos.places import At, Breakpoint, Counts, Places

LetGo: TypeAlias = Callable[[], None]
Held: TypeAlias = Callable[[tuple[str, ...], LetGo], None]
Act: TypeAlias = Callable[[], None]
InGroup: TypeAlias = Callable[[Act], Act | None]
"""`Breakpoints.in_group`, or `nowhere`."""

QUEUE_DATABASE = "the queue database"
TRANSACTION = "the transaction under way"


class Breakpoints:
    """Stands at the core's door, on both sides of it, for one life of a node; asked by its disk."""

    def __init__(
        self,
        planned: Iterable[Breakpoint],
        spent: Collection[str],
        lab_ms: Callable[[], int],
        give: Callable[[Input], None],
        carry_out: Callable[[Effect], None],
        held: Held,
    ) -> None:
        """`lab_ms`: lab time since the start; `spent`: names of those that have held before."""
        self._places, self._counts = Places(), Counts(planned, spent)
        self._lab_ms, self._give, self._carry_out, self._held = lab_ms, give, carry_out, held
        self._waiting: dict[str, list[tuple[At | None, Act]]] = {}
        self._to_tell: dict[int, tuple[str, tuple[str, ...]]] = {}
        self._is_over = False

    def give(self, happened: Input) -> None:
        """An input on its way to the core."""
        act = partial(self._give, happened)
        self._pass(_lane_of_input(happened), self._places.of_input(happened), act)
        if isinstance(happened, Committed | CommitFailed):
            self._answered(happened)

    def carry_out(self, effect: Effect) -> None:
        """An effect on its way to the world."""
        act = partial(self._carry_out, effect)
        if isinstance(effect, HangUp):
            self._waiting.pop(effect.session, None)  # nobody waits for its answer any more
        self._pass(_lane_of_effect(effect), self._places.of_effect(effect), act)

    def in_group(self, go_on: Act) -> Act | None:
        """Several commits are about to share a transaction, which nobody can see at the door. Where
        it is to be held: what says so, for the disk to call in the middle; `go_on` lets go.
        """
        names = self._reached(At("in-group-commit"))
        if not names:
            return None
        self._waiting[TRANSACTION] = [(None, go_on)]
        return partial(self._held, names, partial(self._let_go, TRANSACTION))

    def let_all_go(self) -> None:
        """A node that stops holds nothing back, now or later."""
        self._is_over = True
        self._to_tell.clear()
        for lane in list(self._waiting):
            self._let_go(lane)

    def _pass(self, lane: str | None, at: At | None, act: Act) -> None:
        if lane is None:
            act()
        elif lane in self._waiting:
            self._waiting[lane].append((at, act))
        elif at is not None and (names := self._reached(at)):
            self._waiting[lane] = [(None, act)]
            self._hold(lane, names, at)
        else:
            act()

    def _reached(self, at: At) -> tuple[str, ...]:
        return () if self._is_over else self._counts.reached(at.place, self._lab_ms())

    def _hold(self, lane: str, names: tuple[str, ...], at: At) -> None:
        if at.after is None:
            self._held(names, partial(self._let_go, lane))
        else:
            self._to_tell[at.after] = (lane, names)

    def _answered(self, answer: Committed | CommitFailed) -> None:
        """The commit after which a node is at its place; without it the place is never reached."""
        lane, names = self._to_tell.pop(answer.commit, ("", ()))
        if names and isinstance(answer, Committed):
            self._held(names, partial(self._let_go, lane))
        elif names:
            self._let_go(lane)

    def _let_go(self, lane: str) -> None:
        """What has waited behind is looked at as if it came now."""
        for at, act in self._waiting.pop(lane, ()):
            self._pass(lane, at, act)


def nowhere(_go_on: Act) -> None:
    """`in_group` of a node that is held at no place."""


def _lane_of_input(happened: Input) -> str | None:
    return happened.session if isinstance(happened, TransmissionAnswered | SessionLost) else None


def _lane_of_effect(effect: Effect) -> str | None:
    match effect:
        case SendReply() | CloseSession():
            return effect.session
        case Commit() | ExpireSafetyNet() | ReadSafetyNet() | MeasureConverted():
            return QUEUE_DATABASE
        case DeliverToMailboxes() | ChangeCopy() | CleanUpDeliveredTo():
            return f"mailbox database {effect.database}"
    return None
