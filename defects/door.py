"""What stands at the one door of a core: inputs on their way in, effects on their way out.

A door drops, doubles, alters, holds back or makes up what goes through it; it has one object for
each life of a node, and lives as long. It knows nothing of what is inside. The core is given the
same clock as ever.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

from nodes.core.active_manager import ActiveManager
from nodes.core.config.config import NodeConfig
from nodes.core.front_end import FrontEnd
from nodes.core.interface.effects import Effect
from nodes.core.interface.inputs import DatabaseOpened, DeadlineReached, Input, ManagerOpened
from nodes.core.node import Node

Core = Node | FrontEnd | ActiveManager


class Door:
    """Lets everything through. Override `enters` and `leaves`."""

    def __init__(self, config: NodeConfig) -> None:
        self.config = config
        self.me = config.me.name
        self.now_ms = 0
        self.starts = 0
        self._made_up: deque[Input] = deque()
        self._held_back: list[tuple[int, int, Effect]] = []
        self._count = self._calls = 0

    def enters(self, happened: Input) -> Iterable[Input]:
        """What the core hears instead."""
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        """What the host is asked for instead."""
        return (effect,)

    def answer(self, happened: Input) -> None:
        """The core hears this too, after what it handles now."""
        self._made_up.append(happened)

    def hold_back(self, effect: Effect, wait_ms: int) -> None:
        """The host is asked for it so much later, unless the process ends before."""
        self._count += 1
        heapq.heappush(self._held_back, (self.now_ms + wait_ms, self._count, effect))

    def is_nth(self, every: int) -> bool:
        """True for one call in `every`, the first of each life among them."""
        self._calls += 1
        return self._calls % every == 1

    def handle(
        self, handle: Callable[[Input, int], tuple[Effect, ...]], happened: Input, now_ms: int
    ) -> tuple[Effect, ...]:
        self.now_ms = now_ms
        if isinstance(happened, DatabaseOpened | ManagerOpened):
            self.starts = happened.starts
        effects: list[Effect] = self._due() if isinstance(happened, DeadlineReached) else []
        waiting = deque(self.enters(happened))
        while waiting:
            for effect in handle(waiting.popleft(), now_ms):
                effects += self.leaves(effect)
            waiting += self._made_up
            self._made_up.clear()
        return tuple(effects)

    def next_deadline_ms(self, of_the_core: int | None) -> int | None:
        if not self._held_back:
            return of_the_core
        return min(self._held_back[0][0], of_the_core or self._held_back[0][0])

    def _due(self) -> list[Effect]:
        found = []
        while self._held_back and self._held_back[0][0] <= self.now_ms:
            found.append(heapq.heappop(self._held_back)[2])
        return found


@contextmanager
def behind(make: Callable[[NodeConfig], Door], core: type[Core] = Node) -> Iterator[None]:
    """Every core of that kind that is made meanwhile has a door of this make."""
    doors: WeakKeyDictionary[Any, Door] = WeakKeyDictionary()
    begin, handle, deadline = core.__init__, core.handle, core.next_deadline_ms

    def __init__(self: Any, config: NodeConfig) -> None:
        begin(self, config)
        doors[self] = make(config)

    def handled(self: Any, happened: Input, now_ms: int) -> tuple[Effect, ...]:
        return doors[self].handle(lambda h, at: handle(self, h, at), happened, now_ms)

    def next_deadline_ms(self: Any) -> int | None:
        return doors[self].next_deadline_ms(deadline(self))

    with patch.multiple(core, __init__=__init__, handle=handled, next_deadline_ms=next_deadline_ms):
        yield
