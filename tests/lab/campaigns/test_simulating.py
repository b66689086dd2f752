"""Processes that simulate end when nobody waits for them any more, and are bounded."""

import mmap
import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path

import pytest

from lab.campaigns.simulating import MOST_BYTES, simulating
from lab.program import processes

ROOT = Path(__file__).parents[3]
LONGER_THAN_ANY_TEST = 3600
DEADLINE_SECONDS = 60.0
HUNDRED_MIB = 100 << 20
STARTS = f"""
import os, time
from lab.campaigns.simulating import simulating
with simulating() as pool:
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, {LONGER_THAN_ANY_TEST}).result()
"""


def test_what_was_begun_is_given_up_with_it() -> None:
    with pytest.raises(KeyboardInterrupt):
        _begin_and_give_up()
    assert active_children() == []


def _begin_and_give_up() -> None:
    with simulating() as pool:
        for _ in range(9):
            pool.submit(time.sleep, LONGER_THAN_ANY_TEST)
        raise KeyboardInterrupt


def test_what_is_waited_for_is_done() -> None:
    with simulating() as pool:
        results = list(pool.map(abs, range(-9, 0)))
    assert results == list(range(9, 0, -1))


def test_what_needs_more_memory_than_it_may_have_takes_nothing_else_with_it() -> None:
    with simulating() as pool:
        with pytest.raises(MemoryError):
            pool.submit(bytearray, MOST_BYTES).result()
        assert pool.submit(len, b"12").result() == 2


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process says its size")
def test_what_the_program_has_itself_is_not_taken_from_what_a_process_may_have() -> None:
    """A process is forked with all of that, and crashed where it was nearly as much (a test runner
    that has many results).
    """
    with mmap.mmap(-1, MOST_BYTES), simulating() as pool:
        assert pool.submit(len, bytes(HUNDRED_MIB)).result() == HUNDRED_MIB


@pytest.mark.skipif(sys.platform != "linux", reason="death signals are Linux's alone")
def test_none_is_left_where_the_program_is_killed() -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", STARTS], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with program:
        assert program.stdout is not None
        worker = int(program.stdout.readline())
        os.kill(program.pid, signal.SIGKILL)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while processes.describe(worker) is not None:
        assert time.monotonic() < deadline, f"{worker} goes on"
        time.sleep(0.05)
