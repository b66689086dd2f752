"""Drives the core: inputs one at a time, written down, their effects carried out in order.

The core's next deadline is kept as a timer of the event loop, in lab time. A mistake of ours, here
or in the core, ends the node (`failed`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

from nodes.core.active_manager import ActiveManager
from nodes.core.config.config import NodeConfig
from nodes.core.engine.one_door import OneDoor
from nodes.core.front_end import FrontEnd
from nodes.core.interface.effects import Effect
from nodes.core.interface.inputs import DeadlineReached, Input
from nodes.core.node import Node
from nodes.shell.clock import POLL_S, NodeClock
from nodes.shell.one_at_a_time import OneAtATime


class Core(Protocol):
    """The one door of a node (design decision 1)."""

    def handle(self, happened: Input, now_ms: int) -> tuple[Effect, ...]: ...

    def next_deadline_ms(self) -> int | None: ...


CORES: Mapping[str, Callable[[NodeConfig], OneDoor]] = {
    "mailbox": Node,
    "frontend": FrontEnd,
    "active_manager": ActiveManager,
}
"""By role; a server outside has none."""


class CoreLoop:
    """`write_down` gets each input with its lab time, `carry_out` each effect."""

    def __init__(
        self,
        core: Core,
        clock: NodeClock,
        write_down: Callable[[Input, int], None],
        carry_out: Callable[[Effect], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._core = core
        self._clock = clock
        self._write_down = write_down
        self._carry_out = carry_out
        self._failed = failed
        self._inputs = OneAtATime(self._handle, self._set_timer, self._broke)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due_ms: int | None = None

    def give(self, happened: Input) -> None:
        """Something happened. Nothing does any more after `end`."""
        self._inputs.give(happened)

    def end(self) -> None:
        self._inputs.end()
        if self._timer is not None:
            self._timer.cancel()

    def _broke(self, error: Exception) -> None:
        self.end()
        self._failed(error)

    async def wait_for_lab_time(self) -> None:
        """Look for the start of lab time until it is set going; then timers run."""
        while not self._clock.is_set_going:
            await asyncio.sleep(POLL_S)
            self._clock.look_for_start()
        self._timer_due_ms = None
        self._set_timer()

    def _handle(self, happened: Input) -> None:
        now_ms = self._clock.now_ms()
        self._write_down(happened, now_ms)
        for effect in self._core.handle(happened, now_ms):
            self._carry_out(effect)

    def _set_timer(self) -> None:
        due_ms = None if self._inputs.is_over else self._core.next_deadline_ms()
        if due_ms == self._timer_due_ms:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_due_ms = None, due_ms
        delay_s = None if due_ms is None else self._clock.wall_delay_s(due_ms)
        if delay_s is not None:
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._wake)

    def _wake(self) -> None:
        """The event loop's clock may wake us a moment early."""
        due_ms, self._timer_due_ms = self._timer_due_ms, None
        if due_ms is not None and due_ms <= self._clock.now_ms():
            self.give(DeadlineReached())
        else:
            self._inputs.handle_all()  # nothing but the timer anew
