"""MessageRateLimit: how many messages a source may send in a minute (F§3.3)."""

from __future__ import annotations

from collections import deque

from nodes.core.config.units import MINUTE_MS


class MessageRate:
    """Of each source, the messages of the last minute that were let through; those that were
    refused do not count.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sent_ms: dict[str, deque[int]] = {}

    def lets_through(self, source: str, now_ms: int) -> bool:
        """Whether one more is within the limit; it counts then."""
        sent_ms = self._sent_ms.setdefault(source, deque())
        while sent_ms and now_ms - sent_ms[0] >= MINUTE_MS:
            sent_ms.popleft()
        if len(sent_ms) >= self._limit:
            return False
        sent_ms.append(now_ms)
        return True
