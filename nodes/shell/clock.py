"""The lab clock: stands still at its origin until the lab starts it, then runs at its speed.

Lab time is origin plus elapsed monotonic time times speed plus the node's skew. Containers share
the host's monotonic clock, so all nodes start at the same moment without agreeing on anything.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

POLL_S = 0.02


@dataclass(slots=True)
class LabClock:
    """`origin_ms` epoch ms at t = 0; `speed` lab seconds per second; `skew_ms` of this node."""

    origin_ms: int
    speed: float
    skew_ms: int
    start_file: Path
    monotonic_ns: Callable[[], int] = time.monotonic_ns
    _zero_ns: int | None = None
    _latest_ms: int = field(default=0)

    @classmethod
    def from_config(cls, document: dict[str, object]) -> LabClock:
        """Of the `LabClock` object of a node configuration file; raises ValueError."""
        origin = datetime.fromisoformat(str(document["Origin"]).replace("Z", "+00:00"))
        clock = cls(
            origin_ms=round(origin.timestamp() * 1000),
            speed=float(str(document["Speed"])),
            skew_ms=int(str(document.get("SkewMs", 0))),
            start_file=Path(str(document["StartFile"])),
        )
        clock.is_started()  # a server that comes back later finds lab time running
        return clock

    def is_started(self) -> bool:
        """Look for the start file; once it was seen it is not looked for again."""
        if self._zero_ns is None and self.start_file.exists():
            self._zero_ns = int(json.loads(self.start_file.read_text())["monotonic_zero_ns"])
        return self._zero_ns is not None

    def now_ms(self) -> int:
        """Lab time in epoch ms; never goes back."""
        elapsed_ms = 0.0
        if self._zero_ns is not None:
            elapsed_ns = max(0, self.monotonic_ns() - self._zero_ns)
            elapsed_ms = elapsed_ns * self.speed / 1_000_000
        self._latest_ms = max(self._latest_ms, self.origin_ms + self.skew_ms + int(elapsed_ms))
        return self._latest_ms

    def wall_delay_s(self, deadline_ms: int) -> float | None:
        """Seconds of wall time until a lab deadline; None while lab time stands still."""
        if self._zero_ns is None:
            return None
        elapsed_ms = deadline_ms - self.origin_ms - self.skew_ms
        due_ns = self._zero_ns + elapsed_ms * 1_000_000 / self.speed
        return max(0.0, (due_ns - self.monotonic_ns()) / 1e9)

    def since_start_ms(self, epoch_ms: int) -> int:
        return epoch_ms - self.origin_ms
