"""Processes that simulate, forked from this one.

They end with it, also where it is killed, and at once where it gives up: what they have begun may
take minutes, and nobody would read it.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children

from lab.program.death_signal import KILLED_WITH_PARENT


@contextmanager
def simulating() -> Iterator[Executor]:
    """One process a core."""
    with ProcessPoolExecutor(os.cpu_count(), initializer=KILLED_WITH_PARENT) as pool:
        try:
            yield pool
        except BaseException:
            for process in active_children():
                process.kill()
            raise
