"""Whether what was written to a peer passes on: by what still waits in buffers on this side (SR-6).

A slow link takes a large message out of the buffers of asyncio and of the system little by little.
What the peer's side has in buffers of its own, nobody here can see.
"""

from __future__ import annotations

import asyncio
import fcntl
import struct
import termios
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TypeVar

LOOK_S = 0.02
T = TypeVar("T")


def unsent_bytes(*transports: asyncio.BaseTransport | None) -> int:
    """What waits in these transports, one over the other, and in the socket below: sent, and not
    acknowledged by the peer's system.
    """
    writing = {id(t): t for t in transports if isinstance(t, asyncio.WriteTransport)}
    waiting = sum(transport.get_write_buffer_size() for transport in writing.values())
    sockets = {id(s): s for t in writing.values() if (s := t.get_extra_info("socket")) is not None}
    return waiting + sum(_unacknowledged(each.fileno()) for each in sockets.values())


def _unacknowledged(descriptor: int) -> int:
    """0 where the system does not say."""
    with suppress(OSError, ValueError):
        (count,) = struct.unpack("i", fcntl.ioctl(descriptor, termios.TIOCOUTQ, b"\0" * 4))
        return int(count)
    return 0


async def watched(
    step: Coroutine[None, None, T], passed: Callable[[], int], moved: Callable[[], None]
) -> T:
    """Take the step; `moved` is called when more has passed than a moment before."""
    watch = _Watch(passed, moved)
    watch.look()
    try:
        return await step
    finally:
        watch.next_look.cancel()


class _Watch:
    def __init__(self, passed: Callable[[], int], moved: Callable[[], None]) -> None:
        self._passed, self._moved = passed, moved
        self._before = passed()
        self.next_look: asyncio.TimerHandle

    def look(self) -> None:
        self.next_look = asyncio.get_running_loop().call_later(LOOK_S, self.look)
        now = self._passed()
        if now > self._before:
            self._before = now
            self._moved()
