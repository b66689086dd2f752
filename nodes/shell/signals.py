"""Signals of a node's whole life, also before it can do what they ask for and after it has.

A node reads its modules for longer than anything else at its start. Asked to stop meanwhile, it
remembers that, begins as ever and ends in order at once; as the first process of a container it
would not even hear it. It need not be notified so early of a machine that has changed (SIGUSR1): it
looks for itself when it begins. Once its event loop is closed no signal changes anything: asyncio's
own handlers would be gone by then, and a second SIGTERM would end it without its exit code. What is
imported here is there in a moment.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import asyncio

STOP = (signal.SIGTERM, signal.SIGINT)
MACHINE_CHANGED = signal.SIGUSR1
_asked_to_stop: list[int] = []


def keep_signals() -> None:
    """From the first moment of a program until `heed`."""
    for number in STOP:
        signal.signal(number, lambda asked, frame: _asked_to_stop.append(asked))
    signal.signal(MACHINE_CHANGED, signal.SIG_IGN)


def heed(
    loop: asyncio.AbstractEventLoop,
    stop: Callable[[], None],
    machine_changed: Callable[[], None] = lambda: None,
) -> None:
    """Stop when asked to, also where that was before; look at the machine when notified.

    The interpreter writes the number of each signal into a pipe, which the loop reads while it is
    there.
    """
    acts = {MACHINE_CHANGED: machine_changed, **dict.fromkeys(STOP, stop)}
    heard, said = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def act() -> None:
        for number in os.read(heard, 4096):
            acts[signal.Signals(number)]()

    loop.add_reader(heard, act)
    signal.set_wakeup_fd(said, warn_on_full_buffer=False)
    for number in acts:
        signal.signal(number, lambda asked, frame: None)
    if _asked_to_stop:
        stop()


def leave(code: int) -> NoReturn:
    """End the program with that code, whatever signal comes while the interpreter clears up."""
    for number in (*STOP, MACHINE_CHANGED):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)
