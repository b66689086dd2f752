"""One connection through a link: what is said over it arrives in order, after a drawn delay, and is
opaque here.

How a link treats what passes is the link's; what that does to something that is on its way is here:
it is held, sliced, counted, shown to who watches it move, lost or let go.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from lab.hosts.simulator.event_loop import MS
from lab.plan.effects import DOWN, UP

if TYPE_CHECKING:
    from lab.hosts.simulator.network import Link

CLOSED_BY_PEER = "connection closed by the peer"
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


class End(Protocol):
    """One end of a connection."""

    def received(self, said: Any) -> None: ...

    def closed(self, reason: str) -> None:
        """Nothing more comes of it. Also the answer to a connection that could not be opened."""


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

    def __init__(self, link: "Link", opener: End) -> None:
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
