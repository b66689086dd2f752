"""How much heap a session takes that needs much, where nobody said.

What a batch has settled stays in memory until it is judged: with little more room than that, a
quarter of all work is collecting garbage. The heap grows to this only where it is needed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

GIB = 2**30
SHARE = 4
LEAST_GIB, MOST_GIB = 2, 8
# of the control group that this process is in, as its root has it in a container
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def a_quarter(memory_bytes: int) -> str:
    """Of this memory, as Spark writes it: `6g`. At least 2 GiB, with which any batch of some
    hundred runs is judged, and at most 8.
    """
    return f"{min(max(memory_bytes // SHARE // GIB, LEAST_GIB), MOST_GIB)}g"


def memory_bytes() -> int:
    """The machine's, or less where a container may take less."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *(limit for path in LIMITS if (limit := _limit(Path(path))))])


def _limit(path: Path) -> int:
    """0 where there is none."""
    with suppress(OSError, ValueError):
        return int(path.read_text())
    return 0
