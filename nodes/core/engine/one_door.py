"""The one door of every core: an input at a lab time in, effects out, and what it waits for."""

from __future__ import annotations

from abc import ABC, abstractmethod

from nodes.core.engine.waiting import Wait, Waits
from nodes.core.engine.work import Work
from nodes.core.interface.effects import Effect
from nodes.core.interface.inputs import Input


class OneDoor(ABC):
    """A core has a `Work`, and hears an input."""

    _work: Work

    def handle(self, happened: Input, now_ms: int) -> tuple[Effect, ...]:
        """Effects of one input at lab time `now_ms` (epoch ms), which never goes back."""
        assert now_ms >= self._work.now_ms, "lab time went back"
        self._work.now_ms = now_ms
        self._hear(happened)
        return self._work.take_effects()

    def next_deadline_ms(self) -> int | None:
        """When `DeadlineReached` is wanted, lab time in epoch ms; None: nothing waits for time."""
        return self._work.next_deadline_ms()

    def waits(self) -> tuple[Wait, ...]:
        """All that it waits for: answers of its disk and of other servers, then times. It only
        looks.
        """
        parts = (self._work, *self._parts_waiting())
        waits = (wait for part in parts for wait in part.waits())
        return tuple(sorted(waits, key=lambda wait: not wait.awaited))

    @abstractmethod
    def _parts_waiting(self) -> tuple[Waits, ...]:
        """Its parts that keep who waits, besides its `Work`."""

    @abstractmethod
    def _hear(self, happened: Input) -> None:
        """What the core makes of it."""
