"""Breakpoints: a node held at a place in the protocol, for the lab alone (design decision 12).

What is held is one effect or one input of one session, and what follows it in that session; the
rest of the node goes on, and the core knows nothing. How the lab is told, and how it lets go, is
the host's: `held` is called with the names of the breakpoints and with what lets go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TypeAlias

from nodes.core.effects import CloseSession, Effect, HangUp, SendReply
from nodes.core.inputs import Input, SessionLost, TransmissionAnswered
from nodes.shell.places import Breakpoint, Counts, Place, Places

LetGo: TypeAlias = Callable[[], None]
Held: TypeAlias = Callable[[tuple[str, ...], LetGo], None]


class Breakpoints:
    """Stands at the core's door, on both sides of it, for one life of a node."""

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
        self._waiting: dict[str, list[Callable[[], None]]] = {}

    def give(self, happened: Input) -> None:
        """An input on its way to the core."""
        act = partial(self._give, happened)
        if not isinstance(happened, TransmissionAnswered | SessionLost):
            self._places.of_input(happened)
            act()
        elif happened.session in self._waiting:
            self._waiting[happened.session].append(act)
        elif names := self._reached(self._places.of_input(happened)):
            self._hold(happened.session, names, act)
        else:
            act()

    def carry_out(self, effect: Effect) -> None:
        """An effect on its way to the world."""
        act = partial(self._carry_out, effect)
        place = self._places.of_effect(effect)
        if isinstance(effect, HangUp):
            self._waiting.pop(effect.session, None)  # nobody waits for its answer any more
        elif isinstance(effect, SendReply | CloseSession):
            if effect.session in self._waiting:
                self._waiting[effect.session].append(act)
                return
            if names := self._reached(place):
                self._hold(effect.session, names, act)
                return
        act()

    def let_all_go(self) -> None:
        """A node that stops holds nothing back."""
        for session in list(self._waiting):
            self._let_go(session)

    def _reached(self, place: Place | None) -> tuple[str, ...]:
        return self._counts.reached(place, self._lab_ms()) if place else ()

    def _hold(self, session: str, names: tuple[str, ...], act: Callable[[], None]) -> None:
        self._waiting[session] = [act]
        self._held(names, partial(self._let_go, session))

    def _let_go(self, session: str) -> None:
        for act in self._waiting.pop(session, ()):
            act()
