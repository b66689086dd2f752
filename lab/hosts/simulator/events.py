"""Where a simulation can be struck: every input at a server's door, every transaction that its disk
writes, and all that links carry.

Counted from the start of lab time, in the order in which they happen, which the same plan always
repeats; so the number of an event names a moment more closely than any clock could. A fault that is
to begin at an event begins just before it: the server has done all that it did before and nothing
of this, what is said over the link is the first thing to be lost, or what was to be written is on
its way and nobody has been informed that it arrived.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lab.hosts.simulator.smtp.steps import Announcement, Answer, Final
from lab.plan.topology import LinkName
from nodes.core.interface.inputs import (
    DatabaseOpened,
    ManagerOpened,
    MessageOffered,
    PeerAuthenticated,
    TransmissionAnswered,
)

Side: TypeAlias = Literal["door", "disk", "forward", "backward"]
START = (DatabaseOpened, ManagerOpened)
"""A server that starts has said nothing to anybody yet: its next input comes to the same."""


@dataclass(frozen=True, slots=True)
class Event:
    """`where` is a server's name at its door or its disk, the link over a link (`forward`: towards
    its target).

    `at_ms` is lab time. `what` says what happened, without ids and times, so that two runs can be
    compared.
    """

    at_ms: int
    side: Side
    where: str | LinkName
    what: str


class Events:
    """Those of one simulation. `begin` names the fault that begins at an event, by its number."""

    def __init__(self, begin: Mapping[int, str] | None = None) -> None:
        self.seen: list[Event] = []
        self.when_struck: Callable[[str], None] = lambda fault: None
        self.is_over = False
        self._begin = dict(begin or {})

    @property
    def struck(self) -> frozenset[str]:
        """Ids of the faults that begin at events."""
        return frozenset(self._begin.values())

    def at_door(self, server: str, happened: object, now_ms: int) -> None:
        if not isinstance(happened, START):
            self._happens(Event(now_ms, "door", server, _words(happened)))

    def at_disk(self, server: str, written: object, now_ms: int) -> None:
        """`written`: the first of what goes into one transaction."""
        self._happens(Event(now_ms, "disk", server, type(written).__name__))

    def over_link(self, link: LinkName, said: object, now_ms: int, *, forward: bool) -> None:
        side: Side = "forward" if forward else "backward"
        self._happens(Event(now_ms, side, link, _words(said)))

    def _happens(self, event: Event) -> None:
        if self.is_over:
            return
        number = len(self.seen)
        self.seen.append(event)
        if number in self._begin:
            self.when_struck(self._begin[number])


def _words(happened: object) -> str:
    """`MessageOffered <m1@lab>`."""
    told = _TOLD.get(type(happened))
    return type(happened).__name__ + (f" {told(happened)}" if told else "")


_TOLD: Mapping[type, Callable[[Any], str]] = {
    MessageOffered: lambda e: e.header.message_id,
    PeerAuthenticated: lambda e: f"as {e.peer}",
    TransmissionAnswered: lambda e: str(e.code),
    Announcement: lambda said: (
        f"{type(said.prologue).__name__} to {','.join(said.envelope.recipients)}"
    ),
    Final: lambda said: str(said.reply.code),
    Answer: lambda said: str(said.reply.code),
}
