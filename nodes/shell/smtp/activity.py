"""Activity of one session, said to the core by lab time and not too often (SR-6)."""

from __future__ import annotations

from collections.abc import Callable

ACTIVITY_PARTS = 20


class Activity:
    """`tell` is called at most once in a twentieth of `time_out_ms`, the limit on silence."""

    def __init__(
        self, time_out_ms: int, now_ms: Callable[[], int], tell: Callable[[], None]
    ) -> None:
        self._every_ms = time_out_ms // ACTIVITY_PARTS
        self._now_ms, self._tell = now_ms, tell
        self._told_ms = now_ms()

    def seen(self) -> None:
        """Bytes passed."""
        now_ms = self._now_ms()
        if now_ms - self._told_ms >= self._every_ms:
            self._told_ms = now_ms
            self._tell()
