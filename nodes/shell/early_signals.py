"""Signals that come before a node can do what they ask for.

A node reads its modules for longer than anything else at its start. Asked to stop meanwhile, it
remembers that, begins as ever and ends in order at once; as the first process of a container it
would not even hear it. Of a machine that has changed (SIGUSR1) it need not be told so early: it
looks for itself when it begins. What is imported here is there in a moment.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

STOP = (signal.SIGTERM, signal.SIGINT)
_asked_to_stop: list[int] = []


def keep_signals() -> None:
    """From the first moment of a program until `heed`."""
    for number in STOP:
        signal.signal(number, lambda asked, frame: _asked_to_stop.append(asked))
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


def heed(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Stop when asked to, also where that was before."""
    for number in STOP:
        loop.add_signal_handler(number, stop)
    if _asked_to_stop:
        stop()
