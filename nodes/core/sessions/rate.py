"""How often a source may do a thing in a minute: MessageRateLimit (F§3.3), and all clients together
MaxConnectionRatePerMinute (F§3.2).
"""

from __future__ import annotations

from collections import deque

from nodes.core.config.units import MINUTE_MS


class RatePerMinute:
    """Of each source, what was let through in the last minute; what was refused does not count.
    What nobody asks about any more is forgotten: sources are many.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._passed_ms: dict[str, deque[int]] = {}
        self._forgot_ms = 0
        self._begun_ms: int | None = None

    def begin(self, now_ms: int) -> None:
        """The process begins. As long as it is that moment, lab time stands still: what comes then,
        as to see whether anything gets through, is in no minute.
        """
        self._begun_ms = now_ms

    @property
    def sources(self) -> int:
        """How many it remembers."""
        return len(self._passed_ms)

    def lets_through(self, source: str, now_ms: int) -> bool:
        """Whether one more is within the limit; it counts then."""
        if now_ms == self._begun_ms:
            return True
        self._forget(now_ms)
        passed_ms = self._passed_ms.setdefault(source, deque())
        while passed_ms and now_ms - passed_ms[0] >= MINUTE_MS:
            passed_ms.popleft()
        if len(passed_ms) >= self._limit:
            return False
        passed_ms.append(now_ms)
        return True

    def _forget(self, now_ms: int) -> None:
        """Once a minute."""
        if now_ms - self._forgot_ms < MINUTE_MS:
            return
        self._forgot_ms = now_ms
        self._passed_ms = {
            source: passed_ms
            for source, passed_ms in self._passed_ms.items()
            if passed_ms and now_ms - passed_ms[-1] < MINUTE_MS
        }
