"""Virtual time: what is to happen, at which microsecond, in which order. Nothing waits.

One heap of events, one clock that jumps from event to event. Events of the same microsecond happen
in the order in which they were asked for; what real machines leave open is decided by drawn delays,
not here. It knows no server and no link.
"""

import heapq
from collections.abc import Callable
from typing import Any, TypeAlias

MS = 1_000
SECOND = 1_000_000

Act: TypeAlias = Callable[..., None]


class World:
    """Time in µs since the start of lab time; `origin_ms` is the date of that start, epoch ms."""

    def __init__(self, origin_ms: int) -> None:
        self.origin_ms = origin_ms
        self.now_us = 0
        self._events: list[tuple[int, int, Act, tuple[Any, ...]]] = []
        self._count = 0
        self._last_ns = 0

    def at(self, due_us: int, act: Act, *arguments: Any) -> None:
        """Do it then; at once, if that is past."""
        self._count += 1
        heapq.heappush(self._events, (due_us, self._count, act, arguments))

    def after(self, delay_us: int, act: Act, *arguments: Any) -> None:
        self.at(self.now_us + delay_us, act, *arguments)

    def run_until(self, end_us: int) -> None:
        """Everything that is due by then; the clock stands at `end_us` afterwards."""
        events, pop = self._events, heapq.heappop
        while events and events[0][0] <= end_us:
            due_us, _, act, arguments = pop(events)
            if due_us > self.now_us:
                self.now_us = due_us
            act(*arguments)
        self.now_us = max(self.now_us, end_us)

    def now_ms(self) -> int:
        """Lab ms since the start."""
        return self.now_us // MS

    def mono_ns(self) -> int:
        """The monotonic clock of all servers: lab time in ns, never the same twice."""
        self._last_ns = max(self._last_ns + 1, self.now_us * 1000)
        return self._last_ns
