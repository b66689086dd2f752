"""Links and the connections over them, as the real proxy treats them under each cut.

A link is a proxy: it can refuse, reset, and treat each direction in one of three ways. What that
does to sessions that are open, to new ones, and to bytes on the way, at the cut and at the heal, is
measured on the real Toxiproxy and held to the same table (tests/parity). What is said over a
connection arrives in order, after a drawn delay, and is opaque here.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, assert_never

from lab.hosts.simulator.event_loop import MS, World
from lab.hosts.simulator.events import Events
from lab.hosts.simulator.random_delays import DIAL_US, OTHER_SITE_US, SAME_SITE_US, Chance
from lab.plan.effects import DOWN, UP, Effect, Stream
from lab.plan.topology import LinkName

CLOSED_BY_PEER = "connection closed by the peer"
REFUSED = "connection refused"
RESET = "connection reset by peer"


# how often either end sees that a large thing moves
LOOK_US = MS * 500
# what a proxy and the systems around it take of it at once, before the other end has it
AHEAD_BYTES = 256 * 1024


class Flow(Enum):
    """One direction of a link: bytes pass, are held until the heal, or are lost."""

    PASS = "pass"
    HOLD = "hold"
    DROP = "drop"


@dataclass(frozen=True, slots=True, eq=False)
class Slicing:
    """What is read is halved until each piece is small enough; each is followed by a pause."""

    piece_bytes: int
    pause_us: int

    def pauses(self, size_bytes: int) -> int:
        """As many as pieces; none after an end."""
        count = 1 if size_bytes else 0
        while size_bytes > count * self.piece_bytes:
            count *= 2
        return count


@dataclass(frozen=True, slots=True)
class Movement:
    """Something large on its way: its sender sees it move until `taken_us`, when the proxy has the
    rest, and the target until it is there; `slicing` is what holds it up.
    """

    taken_us: int
    arrives_us: int
    every_us: int = LOOK_US
    slicing: Slicing | None = None


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late one direction of a link is, give or take its jitter."""

    latency_us: int = 0
    jitter_us: int = 0


ON_TIME = Lateness()


class End(Protocol):
    """One end of a connection."""

    def received(self, said: Any) -> None: ...

    def closed(self, reason: str) -> None:
        """Nothing more comes of it. Also the answer to a connection that could not be opened."""


class Target(Protocol):
    """Who listens at the far end of a link."""

    @property
    def listens(self) -> bool: ...

    def accept(self, connection: "Connection", opener: str) -> End: ...


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

    def connect(self, end: End) -> "Connection":
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


_END = object()


class Connection:
    """One connection through a link. `forward` is from the opener to the target."""

    __slots__ = (
        "_carried",
        "_clear_us",
        "_ends",
        "_free_us",
        "_held",
        "_is_doomed",
        "_is_over",
        "_link",
        "_reason",
        "_reset",
        "_watching",
    )

    def __init__(self, link: Link, opener: End) -> None:
        self._link = link
        self._ends: list[End | None] = [None, opener]  # by direction: who hears what goes there
        self._held: tuple[deque[tuple[Any, int]], ...] = (deque(), deque())
        self._clear_us = [0, 0]
        self._free_us = [0, 0]  # when the slicer of that direction has made its last pause
        self._carried = [0, 0]
        self._watching: list[Callable[[], None] | None] = [None, None]
        self._is_over = self._is_doomed = False
        self._reason = CLOSED_BY_PEER
        # a connection older than the toxic is closed instead
        self._reset = CLOSED_BY_PEER if link.reset_after_us is None else RESET

    def watch(self, moved: Callable[[], None], *, by_opener: bool) -> None:
        """Call `moved` of that end now and then while something large passes to the target."""
        self._watching[1 if by_opener else 0] = moved

    @property
    def target(self) -> str:
        return self._link.name.target

    def dial(self) -> None:
        """The proxy reaches for the server behind it."""
        if self._is_over:
            return
        if self._link.target.listens:
            self._ends[0] = self._link.target.accept(self, self._link.name.source)
        else:
            self._link.world.after(self._link.dial_us(), self.break_off, CLOSED_BY_PEER)

    def say(self, said: Any, *, forward: bool, size_bytes: int = 100) -> None:
        """Towards the target, or back."""
        link = self._link
        if self._is_over:
            return
        link.is_used(said, forward=forward)
        if not forward and link.is_resetting:  # a new one is reset, an old one just ends
            self.break_off(CLOSED_BY_PEER)
            return
        if not forward and self._is_lost():
            return
        if self._is_full(0 if forward else 1, size_bytes):
            self.break_off(CLOSED_BY_PEER)
            return
        if link.slicing is not None:
            self._slice(link.slicing, said, size_bytes, forward)
            return
        flow, held = (link.forward, self._held[0]) if forward else (link.backward, self._held[1])
        if flow is Flow.HOLD or held:
            held.append((said, size_bytes))
        elif flow is Flow.PASS:
            self._send(said, size_bytes, forward)

    def _is_lost(self) -> bool:
        """Whether nothing goes back any more: from the first reply on it is to be reset, and a heal
        does not change that.
        """
        after_us = self._link.reset_after_us
        if not self._is_doomed and after_us is not None:
            self._is_doomed = True
            self._link.world.after(after_us, self.break_off, self._reset)
        return self._is_doomed

    def count_anew(self) -> None:
        """What it has carried each way."""
        self._carried = [0, 0]

    def _is_full(self, way: int, size_bytes: int) -> bool:
        """Whether this is more than the link lets one session carry."""
        limit_bytes = self._link.limit_bytes
        self._carried[way] += size_bytes
        return limit_bytes is not None and self._carried[way] >= limit_bytes

    def close(self, *, by_opener: bool) -> None:
        """One end hangs up and hears nothing any more; the other learns of it in its turn."""
        if self._is_over:
            return
        self._ends[1 if by_opener else 0] = None
        if not by_opener and self._is_lost():
            return
        held = self._held[0 if by_opener else 1]
        if self._link.slicing is not None:
            self._slice(self._link.slicing, _END, 0, by_opener)
        elif self._link.slow_close_us is not None:
            held.append((_END, 0))
            self._link.world.after(self._link.slow_close_us, self._hung_up, by_opener)
        elif held:
            held.append((_END, 0))
        else:
            self._send(_END, 0, by_opener)

    def break_off(self, reason: str) -> None:
        """The proxy ends it towards both."""
        if not self._is_over:
            self._reason = reason
            self._finish()
            for end, stream in zip(self._ends, (UP, DOWN), strict=True):
                if end is not None:
                    self.end_later(end, reason, self._link.delay_us(0, stream))

    def end_later(self, end: End, reason: str, delay_us: int) -> None:
        self._is_over = True
        self._link.world.after(delay_us, end.closed, reason)

    def let_go(self, forward: bool) -> None:
        """Send on what was held, also in pieces of which some have not gone yet."""
        way = 0 if forward else 1
        held, self._free_us[way] = self._held[way], 0
        while held and not self._is_over:
            self._send(*held.popleft(), forward)

    def _slice(self, slicing: Slicing, said: Any, size_bytes: int, forward: bool) -> None:
        """Hold it until its last piece goes; the pause after that is what the next waits for."""
        way, pauses = 0 if forward else 1, slicing.pauses(size_bytes)
        begins_us = max(self._link.world.now_us, self._free_us[way])
        self._free_us[way] = begins_us + pauses * slicing.pause_us
        self._held[way].append((said, size_bytes))
        goes_us = begins_us + max(pauses - 1, 0) * slicing.pause_us
        self._link.world.at(goes_us, self._sliced, slicing, forward)
        if forward:
            ahead_us = AHEAD_BYTES // slicing.piece_bytes * slicing.pause_us
            every_us = max(LOOK_US, slicing.pause_us)
            self._show(Movement(goes_us - ahead_us, goes_us, every_us, slicing))

    def _sliced(self, slicing: Slicing, forward: bool) -> None:
        """Its last piece goes, unless a heal has let all of it go."""
        held = self._held[0 if forward else 1]
        if self._link.slicing is slicing and held and not self._is_over:
            self._send(*held.popleft(), forward)

    def _hung_up(self, forward: bool) -> None:
        """Its end goes on, unless a heal has let it go."""
        held = self._held[0 if forward else 1]
        if held and not self._is_over:
            self._send(*held.popleft(), forward)

    def _send(self, said: Any, size_bytes: int, forward: bool) -> None:
        link, way, stream = self._link, 0 if forward else 1, UP if forward else DOWN
        due_us = max(link.world.now_us + link.delay_us(size_bytes, stream), self._clear_us[way])
        self._clear_us[way] = due_us
        link.world.at(due_us, self._arrive, said, way)
        rate = link.bytes_per_second[stream]
        if forward and rate:
            self._show(Movement(due_us - AHEAD_BYTES * 1_000_000 // rate, due_us))

    def _show(self, movement: Movement) -> None:
        look_us = self._link.world.now_us + movement.every_us
        if look_us < movement.arrives_us:
            self._link.world.at(look_us, self._has_moved, movement)

    def _has_moved(self, movement: Movement) -> None:
        target, opener = self._watching
        if self._is_over or movement.slicing not in (None, self._link.slicing):
            return
        if target is not None:
            target()
        if opener is not None and self._link.world.now_us <= movement.taken_us:
            opener()
        self._show(movement)

    def _arrive(self, said: Any, way: int) -> None:
        if self._is_over:
            return
        end = self._ends[way]
        if said is _END:
            self._finish()
            if end is not None:
                end.closed(self._reason)
        elif end is not None:
            end.received(said)

    def _finish(self) -> None:
        self._is_over = True
        self._link.forget(self)
