"""Links, as the real proxy treats them under each cut.

A link is a proxy: it can refuse, reset, and treat each direction in one of three ways. What that
does to sessions that are open, to new ones, and to bytes on the way, at the cut and at the heal, is
measured on the real Toxiproxy and held to the same table (tests/parity).
"""

from dataclasses import dataclass
from typing import Any, Protocol, assert_never

from lab.hosts.simulator.connection import (
    CLOSED_BY_PEER,
    RESET,
    Connection,
    End,
    Flow,
    Slicing,
)
from lab.hosts.simulator.event_loop import MS, World
from lab.hosts.simulator.events import Events
from lab.hosts.simulator.random_delays import DIAL_US, OTHER_SITE_US, SAME_SITE_US, Chance
from lab.plan.effects import DOWN, UP, Effect, Stream
from lab.plan.topology import LinkName

REFUSED = "connection refused"


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late one direction of a link is, give or take its jitter."""

    latency_us: int = 0
    jitter_us: int = 0


ON_TIME = Lateness()


class Target(Protocol):
    """Who listens at the far end of a link."""

    @property
    def listens(self) -> bool: ...

    def accept(self, connection: Connection, opener: str) -> End: ...


class Link:
    """A proxy from `name.source` to `name.target`."""

    def __init__(
        self,
        world: World,
        name: LinkName,
        target: Target,
        *,
        far: bool,
        seed: int,
        events: Events | None = None,
    ) -> None:
        self.world, self.name, self.target = world, name, target
        self._events = events
        self.forward = self.backward = Flow.PASS
        self.is_refusing = self.is_resetting = False
        self.late = {UP: ON_TIME, DOWN: ON_TIME}
        self.bytes_per_second: dict[Stream, int | None] = {UP: None, DOWN: None}
        self.limit_bytes: int | None = None
        self.reset_after_us: int | None = None
        self.slicing: Slicing | None = None
        self.slow_close_us: int | None = None
        self._usual = OTHER_SITE_US if far else SAME_SITE_US
        self._chance = Chance(seed, "link", name.source, name.target, name.service)
        self._connections: dict[Connection, None] = {}

    def connect(self, end: End) -> Connection:
        """Open a connection; whatever becomes of it, `end` hears of it later."""
        connection = Connection(self, end)
        if self.is_refusing or self.is_resetting:
            reason = REFUSED if self.is_refusing else RESET
            connection.end_later(end, reason, self.delay_us(0, DOWN))
            return connection
        self._connections[connection] = None
        # no toxic is late with an opening: it acts on what is said
        self.world.after(self._usual_us(), connection.dial)
        return connection

    def is_used(self, said: Any, *, forward: bool) -> None:
        """Something is about to be said over it."""
        if self._events is not None:
            self._events.over_link(self.name, said, self.world.now_ms(), forward=forward)

    def forget(self, connection: "Connection") -> None:
        self._connections.pop(connection, None)

    def dial_us(self) -> int:
        """How long the proxy tries to reach a server that is down."""
        return self._chance.mostly_short(*DIAL_US)

    def delay_us(self, size_bytes: int, stream: Stream) -> int:
        """How long something takes to the other end."""
        delay_us, late = self._usual_us(), self.late[stream]
        if late != ON_TIME:
            delay_us += late.latency_us + self._chance.up_to(2 * late.jitter_us) - late.jitter_us
        if rate := self.bytes_per_second[stream]:
            delay_us += size_bytes * 1_000_000 // rate
        return max(delay_us, 1)

    def _usual_us(self) -> int:
        return self._chance.mostly_short(*self._usual)

    def apply(self, effect: Effect) -> None:
        """Toxics of Toxiproxy's, in the order in which they were added."""
        if not effect.enabled:
            self.is_refusing = True
            self._end_all()
        flows = {UP: self.forward, DOWN: self.backward}
        for toxic in effect.toxics:
            said = toxic.attributes
            match toxic.type:
                case "reset_peer" if said["timeout"] > 0:
                    self.reset_after_us = said["timeout"] * MS
                case "reset_peer":
                    self.is_resetting = True
                case "timeout":
                    flows[toxic.stream] = Flow.DROP
                case "latency":
                    self.late[toxic.stream] = Lateness(said["latency"] * MS, said["jitter"] * MS)
                case "bandwidth" if said["rate"] > 0:
                    self.bytes_per_second[toxic.stream] = said["rate"]
                case "bandwidth":
                    flows[toxic.stream] = Flow.HOLD
                case "limit_data":
                    self._limit(said["bytes"])
                case "slicer":
                    self.slicing = Slicing(said["average_size"], said["delay"] * MS)
                case "slow_close":
                    self.slow_close_us = said["delay"] * MS
                case _:
                    assert_never(toxic.type)
        self.set_flows(flows[UP], flows[DOWN])

    def undo(self) -> None:
        """All that acts on it."""
        self.is_refusing = self.is_resetting = False
        self.late = {UP: ON_TIME, DOWN: ON_TIME}
        self.bytes_per_second = {UP: None, DOWN: None}
        self.limit_bytes = self.slicing = self.reset_after_us = self.slow_close_us = None
        self.set_flows(Flow.PASS, Flow.PASS)

    def _limit(self, limit_bytes: int) -> None:
        """Of each direction of each session, counted from now on where one is open."""
        self.limit_bytes = limit_bytes
        for connection in self._connections:
            connection.count_anew()

    def set_flows(self, forward: Flow, backward: Flow) -> None:
        """A connection that lived while bytes were lost is closed when they no longer are."""
        before = (self.forward, self.backward)
        self.forward, self.backward = forward, backward
        if Flow.DROP in before and Flow.DROP not in (forward, backward):
            self._end_all()
        for is_forward, flow in ((True, forward), (False, backward)):
            if flow is not Flow.HOLD:
                for connection in list(self._connections):
                    connection.let_go(is_forward)

    def _end_all(self) -> None:
        for connection in list(self._connections):
            connection.break_off(CLOSED_BY_PEER)
