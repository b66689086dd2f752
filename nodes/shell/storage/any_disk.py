"""What a node's process needs of its disk, whichever of the three kinds of node it is."""

from __future__ import annotations

import asyncio
from typing import Protocol

from nodes.core.interface.inputs import (
    DatabaseOpened,
    DatabaseSetAside,
    FrontEndStarted,
    ManagerOpened,
)
from nodes.core.model.message import BodyHandle
from nodes.shell.storage.bodies import Bodies
from nodes.shell.storage.writing import Store, Write


class AnyOpening(Protocol):
    """What opening the node's database gave."""

    @property
    def set_aside(self) -> DatabaseSetAside | None: ...

    @property
    def opened(self) -> DatabaseOpened | ManagerOpened | FrontEndStarted: ...


class AnyDisk(Protocol):
    """`nodes.shell.storage.disk.Disk`, or what Active Manager has instead."""

    bodies: Bodies

    def write(self, effect: Write) -> None: ...

    def deliver(self, effect: Store) -> None: ...

    def read(self, handle: BodyHandle) -> asyncio.Future[bytes]: ...

    def measure(self) -> None: ...

    def count(self, session: str) -> None: ...

    async def use(self, percent: int) -> None: ...

    async def fill(self, is_full: bool) -> None: ...

    @property
    def is_busy(self) -> bool: ...

    def close(self) -> None: ...
