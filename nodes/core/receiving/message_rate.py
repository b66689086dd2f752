"""MessageRateLimit: how many messages a source may send in a minute (F§3.3)."""

from __future__ import annotations

from collections import deque

from nodes.core.config.units import MINUTE_MS


class MessageRate:
    """Of each source, the messages of the last minute that were let through; those that were
    refused do not count. What nobody asks about any more is forgotten: sources are many.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sent_ms: dict[str, deque[int]] = {}
        self._forgot_ms = 0
        self._begun_ms: int | None = None

    def begin(self, now_ms: int) -> None:
        """The process begins. As long as it is that moment, lab time stands still: what is sent
        then, as to see whether anything gets through, is in no minute.
        """
        self._begun_ms = now_ms

    @property
    def sources(self) -> int:
        """How many it remembers."""
        return len(self._sent_ms)

    def lets_through(self, source: str, now_ms: int) -> bool:
        """Whether one more is within the limit; it counts then."""
        if now_ms == self._begun_ms:
            return True
        self._forget(now_ms)
        sent_ms = self._sent_ms.setdefault(source, deque())
        while sent_ms and now_ms - sent_ms[0] >= MINUTE_MS:
            sent_ms.popleft()
        if len(sent_ms) >= self._limit:
            return False
        sent_ms.append(now_ms)
        return True

    def _forget(self, now_ms: int) -> None:
        """Once a minute."""
        if now_ms - self._forgot_ms < MINUTE_MS:
            return
        self._forgot_ms = now_ms
        self._sent_ms = {
            source: sent_ms
            for source, sent_ms in self._sent_ms.items()
            if sent_ms and now_ms - sent_ms[-1] < MINUTE_MS
        }
