"""How finely the lab resolves time: how late a sleeping thread wakes on this host, under this load.

A sampler sleeps a little again and again while the run goes on and notes each overshoot. The
99.9th percentile times the clock's speed is the resolution in lab ms; no duration finer than
that may be judged. It measures this process, which shares its cores with the servers.
"""

import math
import threading
import time
from collections.abc import Sequence
from typing import Self

SAMPLE_SECONDS = 0.005
QUANTILE = 0.999


class ClockResolution:
    """Samples between `with` and its end."""

    def __init__(self) -> None:
        self._overshoots_ms: list[float] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="clock resolution", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(timeout=1)

    def lab_ms(self, speed: float) -> float | None:
        """The resolution in lab ms, rounded up to whole ones; None when nothing was sampled."""
        worst = quantile(self._overshoots_ms, QUANTILE)
        return None if worst is None else float(math.ceil(worst * speed))

    def _sample(self) -> None:
        while not self._ended.is_set():
            before = time.monotonic()
            time.sleep(SAMPLE_SECONDS)
            late = time.monotonic() - before - SAMPLE_SECONDS
            self._overshoots_ms.append(max(0.0, late * 1000))


def quantile(samples: Sequence[float], share: float) -> float | None:
    """The smallest sample that at least `share` of all samples do not exceed."""
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None
