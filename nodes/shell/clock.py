"""Lab time for one node: origin plus elapsed monotonic time times speed, plus the node's skew.

Lab time stands still at the origin until the start file names a monotonic zero and that has passed.
The monotonic clock is the host's, shared by its containers, so that all nodes agree but for skew.
A node reads two clocks, as a program does that takes the date once and counts on by the monotonic
clock: a step of the wall clock changes the date on its logs and moves no deadline (SM-18). Which
date it took is in `nodes.shell.uptime`.
"""

from __future__ import annotations

import errno
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class ClockSettings:
    """`origin_ms`: epoch ms of the start of lab time. `speed`: lab seconds a second. `skew_ms`: by
    how much the steady clock is ahead.
    """

    origin_ms: int
    speed: float
    skew_ms: int
    start_file: Path


class NodeClock:
    """Lab time in Unix epoch milliseconds, as this node has it.

    `now_ms` is steady for a life of the process and never goes back; `date_ms` is what the wall
    clock shows, and `ahead_ms` how far that has been set ahead of `now_ms`.
    """

    def __init__(
        self, settings: ClockSettings, monotonic_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self.origin_ms = settings.origin_ms
        self.ahead_ms = 0
        self.mono_ns = monotonic_ns
        self._settings = settings
        self._zero_ns: int | None = None
        self.look_for_start()

    @property
    def is_set_going(self) -> bool:
        """The start file has been seen; the time that it names may still be ahead."""
        return self._zero_ns is not None

    def look_for_start(self) -> None:
        """Read the start file if it is there by now. Raises ValueError for one without a zero."""
        if self._zero_ns is None:
            self._zero_ns = _read_zero(self._settings.start_file)

    def skew(self, skew_ms: int) -> None:
        """From here on the wall clock is ahead of lab time by `skew_ms`."""
        self.ahead_ms = skew_ms - self._settings.skew_ms

    def now_ms(self) -> int:
        """What deadlines and spans go by: the skew is that of the start."""
        return self._steady_ms(self.mono_ns())

    def date_ms(self) -> int:
        """What records are dated by: the skew is today's."""
        return self.stamp()[0]

    def stamp(self) -> tuple[int, int]:
        """`date_ms` and the monotonic clock, of one moment."""
        mono_ns = self.mono_ns()
        return self._steady_ms(mono_ns) + self.ahead_ms, mono_ns

    def lab_ms(self) -> int:
        """Lab ms since the start, as the lab has it: without any skew."""
        return self.now_ms() - self.origin_ms - self._settings.skew_ms

    def _steady_ms(self, mono_ns: int) -> int:
        start_ms = self.origin_ms + self._settings.skew_ms
        if self._zero_ns is None:
            return start_ms
        elapsed_ns = max(0, mono_ns - self._zero_ns)
        return start_ms + int(elapsed_ns * self._settings.speed / 1_000_000)

    def wall_delay_s(self, deadline_ms: int) -> float | None:
        """Seconds of wall time until `now_ms` is `deadline_ms`; None while time stands."""
        if self._zero_ns is None:
            return None if deadline_ms > self.now_ms() else 0.0
        lab_ms = deadline_ms - self.origin_ms - self._settings.skew_ms
        due_ns = self._zero_ns + lab_ms * 1_000_000 / self._settings.speed
        return max(0.0, (due_ns - self.mono_ns()) / 1_000_000_000)


def _read_zero(path: Path) -> int | None:
    try:
        document = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):  # others have the descriptors: later
            return None
        raise
    zero = document.get("monotonic_zero_ns") if isinstance(document, dict) else None
    if not isinstance(zero, int):
        raise ValueError(f"{path}: monotonic_zero_ns: {zero!r}: must be a whole number")
    return zero
