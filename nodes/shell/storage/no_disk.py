"""What a front end has in place of a disk: messages in memory while their clients wait (TP-7)."""

from __future__ import annotations

import asyncio

from nodes.core.model.message import BodyHandle
from nodes.shell.storage.bodies import Bodies
from nodes.shell.storage.writing import Store, Write

NOTHING_KEPT = "a front end keeps nothing"


class NoDisk:
    """Nothing can be written to it."""

    is_busy = False

    def __init__(self) -> None:
        self.bodies = Bodies(lambda internal_id: None)

    def write(self, effect: Write) -> None:
        raise AssertionError(f"{NOTHING_KEPT}: {effect}")

    def deliver(self, effect: Store) -> None:
        raise AssertionError(f"{NOTHING_KEPT}: {effect}")

    def read(self, handle: BodyHandle) -> asyncio.Future[bytes]:
        found: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        found.set_result(self.bodies.fetch(handle))
        return found

    def measure(self) -> None:
        raise AssertionError(NOTHING_KEPT)

    def count(self, session: str) -> None:
        raise AssertionError(NOTHING_KEPT)

    async def use(self, percent: int) -> None:
        """There is no queue database here."""

    async def fill(self, is_full: bool) -> None:
        """Nothing here can grow."""

    def close(self) -> None:
        """There is nothing to close."""
