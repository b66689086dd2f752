"""Processes that simulate, forked from this one.

They end with it, also where it is killed, and at once where it gives up: what they have begun may
take minutes, and nobody would read it. Their memory is bounded: a node that is broken so that it
makes mail without an end takes its own run with it, and not the machine.
"""

import os
import resource
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children
from pathlib import Path

from lab.program.death_signal import KILLED_WITH_PARENT

OWN_SIZE = Path("/proc/self/statm")
MOST_BYTES = 4 << 30
"""Of one process, beside what it is forked with; a run of the largest scenario takes less than a
tenth of it."""


@contextmanager
def simulating() -> Iterator[Executor]:
    """One process a core. What needs more memory than a process may have raises MemoryError."""
    with ProcessPoolExecutor(os.cpu_count(), initializer=_begin) as pool:
        try:
            yield pool
        except BaseException:
            for process in active_children():
                process.kill()
            raise


def _begin() -> None:
    if KILLED_WITH_PARENT is not None:
        KILLED_WITH_PARENT()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space_bytes() + MOST_BYTES, most))


def _address_space_bytes() -> int:
    """Of this process; it counts what its parent had, which is not there twice."""
    try:
        pages = int(OWN_SIZE.read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
