"""How much mail is read from disk for one peer at once, over all sessions to it.

A body is in memory for as long as its session sends it, and a peer that takes nothing would have as
many of them as there may be sessions to it. So bodies are read one after the other, and the next
one only when those on the way have become few; what waits does so for this peer alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

ENOUGH_BYTES = 16_777_216


class MailGoingOut:
    """To one peer. `moves` counts how often bytes of any of it were seen to pass: whoever waits for
    room waits as long as what is before it moves (SR-6).
    """

    def __init__(self) -> None:
        self.moves = 0
        self._size_bytes = 0
        self._reading = asyncio.Lock()
        self._is_less = asyncio.Event()

    def move(self) -> None:
        self.moves += 1

    @asynccontextmanager
    async def sent(self, read: Callable[[], Awaitable[bytes]]) -> AsyncIterator[bytes]:
        """The body, once there is room for it, until it is sent. Raises what `read` raises."""
        content = await self._read(read)
        try:
            yield content
        finally:
            self._size_bytes -= len(content)
            self._is_less.set()

    async def _read(self, read: Callable[[], Awaitable[bytes]]) -> bytes:
        async with self._reading:
            while self._size_bytes >= ENOUGH_BYTES:
                self._is_less.clear()
                await self._is_less.wait()
            content = await read()
            self._size_bytes += len(content)
        return content


@asynccontextmanager
async def at_hand(body: Awaitable[bytes]) -> AsyncIterator[bytes]:
    """A body that is in memory anyhow."""
    yield await body
