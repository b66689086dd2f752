"""Places in the protocol, recognised from what goes in at the core's one door and what comes out.

Pure: a session is followed by its inputs and effects, and a place is named the moment it is
reached. What is to happen there is not decided here; the core knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from nodes.core.effects import Effect, HangUp, SendReply, ShadowRequest, Transmit
from nodes.core.inputs import (
    ConnectionLost,
    DeliveryRequested,
    DiscardAsked,
    Input,
    LogAnnounced,
    MessageOffered,
    SeedAnnounced,
    SessionLost,
    ShadowRequested,
    TransactionReset,
    TransmissionAnswered,
)

Place: TypeAlias = Literal[
    "after-data-before-250",
    "before-shadow-250",
    "after-shadow-250-before-250",
    "after-xqdiscard-before-reply",
]
"""In this order: the primary has everything durable and is about to say 250 to DATA; the shadow
server is about to say 250 to a shadow message; the primary has that 250 and has begun no commit of
its own; the primary is about to answer XQDISCARD."""

PLACES: tuple[Place, ...] = get_args(Place)
_NO_PLACE = (DeliveryRequested, LogAnnounced, SeedAnnounced)
JUST_OFFERED = "in:"  # handles of bodies that no database holds yet


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Hold the node at the `nth` time that it reaches a place, counted from `from_ms` to
    `until_ms`: lab ms since the start."""

    name: str
    at: Place
    nth: int
    from_ms: int
    until_ms: int

    def counts(self, now_ms: int) -> bool:
        """Not while lab time still stands at 0: what is sent then only tries out the links."""
        return now_ms > 0 and self.from_ms <= now_ms <= self.until_ms


class Counts:
    """How often one life of a node has reached the place of each breakpoint."""

    def __init__(self, planned: Iterable[Breakpoint], spent: Collection[str]) -> None:
        """`spent` names those that have held a node in an earlier life: each holds once."""
        self._left = {each: each.nth for each in planned if each.name not in spent}

    def reached(self, place: Place, now_ms: int) -> tuple[str, ...]:
        """The names of the breakpoints that hold the node here and now."""
        hit = []
        for each in [b for b in self._left if b.at == place and b.counts(now_ms)]:
            self._left[each] -= 1
            if self._left[each] == 0:
                del self._left[each]
                hit.append(each.name)
        return tuple(hit)


class Places:
    """Where the sessions of one life of a node are."""

    def __init__(self) -> None:
        self._asked: dict[str, Input] = {}
        self._announced: dict[str, Input] = {}
        self._shadowing: set[str] = set()

    def of_input(self, happened: Input) -> Place | None:
        """The place at which the node is before it is given this."""
        match happened:
            case (
                MessageOffered()
                | DiscardAsked()
                | ShadowRequested()
                | DeliveryRequested()
                | LogAnnounced()
                | SeedAnnounced()
            ):
                self._asked[happened.session] = happened
            case TransactionReset():
                self._announced.pop(happened.session, None)
            case ConnectionLost():
                self._asked.pop(happened.session, None)
                self._announced.pop(happened.session, None)
            case TransmissionAnswered() if happened.session in self._shadowing:
                self._shadowing.discard(happened.session)
                return "after-shadow-250-before-250" if happened.code == 250 else None
            case SessionLost():
                self._shadowing.discard(happened.session)
        return None

    def of_effect(self, effect: Effect) -> Place | None:
        """The place at which the node is before it carries this out."""
        match effect:
            case Transmit(prologue=ShadowRequest()) if effect.body.startswith(JUST_OFFERED):
                self._shadowing.add(effect.session)
            case Transmit() | HangUp():
                self._shadowing.discard(effect.session)
            case SendReply():
                return self._of_reply(effect)
        return None

    def _of_reply(self, effect: SendReply) -> Place | None:
        asked, accepts = self._asked.pop(effect.session, None), effect.reply.code == 250
        match asked:
            case MessageOffered():
                announced = self._announced.pop(effect.session, None)
                if not accepts or isinstance(announced, _NO_PLACE):
                    return None
                return "before-shadow-250" if announced else "after-data-before-250"
            case ShadowRequested() | DeliveryRequested() | LogAnnounced() | SeedAnnounced() if (
                accepts
            ):
                self._announced[effect.session] = asked
            case DiscardAsked() if accepts:
                return "after-xqdiscard-before-reply"
        return None
