"""Messages that have been under way for some time: one timer, set to the oldest of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nodes.core.delivery.tracked import Tracked
from nodes.core.engine.work import COMMIT_RETRY_MS, Timer, Work


@dataclass(slots=True)
class AgeLimit:
    """Calls `reached` for each of `messages` that has been under way for `limit_ms`, and again in a
    minute as long as it `concerns` one.
    """

    work: Work
    messages: Mapping[int, Tracked]
    limit_ms: int
    reached: Callable[[Tracked], None]
    concerns: Callable[[Tracked], bool]
    _timer: Timer | None = None

    def watch(self, oldest: Tracked) -> None:
        """Unless one that is older is watched."""
        if not self.concerns(oldest):
            return
        due_ms = max(oldest.since_ms + self.limit_ms, self.work.now_ms)
        if self._timer is not None and self._timer.due_ms <= due_ms:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.work.at(due_ms, self._look)

    def _look(self) -> None:
        self._timer = None
        since_ms = self.work.now_ms - self.limit_ms
        concerned = filter(self.concerns, self.messages.values())
        for tracked in sorted(concerned, key=lambda each: each.since_ms):
            if tracked.since_ms > since_ms:
                self.watch(tracked)
                return
            self.reached(tracked)
        if any(map(self.concerns, self.messages.values())):
            self._timer = self.work.again(COMMIT_RETRY_MS, self._look)
