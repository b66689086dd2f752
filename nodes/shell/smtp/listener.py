"""Taking connections in, and never more than leave a node what it needs itself.

Half of the descriptors that the process may open are for its databases, logs and own sessions, so
that strangers cannot keep it from its disk. Whoever comes beyond the other half takes the place of
the client that was silent the longest, which hears so and is let go: so who only stays keeps nobody
out, servers of the organisation least of all, which never give way and are known only once they
are in (`give_way`). Where nobody may give way, it is the one who comes that is let go.
Where descriptors run out all the same, accepting pauses and goes on by itself.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol

from nodes.shell.process import EX_UNAVAILABLE, CannotStart
from nodes.shell.smtp.address import Address

BACKLOG = 512
PAUSE_S = 0.2
MAX_INBOUND_CONNECTION = 5000  # of a Receive connector (F§3.3)

R421_TOO_MANY_CONNECTIONS = (
    b"421 4.3.2 The maximum number of concurrent server connections has exceeded a limit, "
    b"closing transmission channel"
)


class Client(Protocol):
    """A connection, as far as its place is concerned."""

    heard_s: float

    @property
    def may_give_way(self) -> bool: ...

    def give_way(self, line: bytes) -> None: ...


def give_way(clients: Iterable[Client]) -> bool:
    """Let go of the client that was silent the longest; False where none may be."""
    silent = min(
        (each for each in clients if each.may_give_way), key=lambda each: each.heard_s, default=None
    )
    if silent is not None:
        silent.give_way(R421_TOO_MANY_CONNECTIONS)
    return silent is not None


def bind(address: Address) -> socket.socket:
    """Take the port, without answering on it yet. Raises CannotStart."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((address.host, address.port))
    except OSError as error:
        taken.close()
        where = f"{address.host}:{address.port}"
        raise CannotStart(EX_UNAVAILABLE, f"Listen.smtp: {where}: {error.strerror}") from error
    return taken


class Listener:
    """Accepts on `port`, which is bound, from now until `close`; `connected` makes the protocol of
    a connection, `clients` are those that are connected.
    """

    def __init__(
        self,
        port: socket.socket,
        connected: Callable[[], asyncio.Protocol],
        clients: Callable[[], Iterable[Client]],
    ) -> None:
        port.setblocking(False)
        port.listen(BACKLOG)
        self._port = port
        self._connected = connected
        self._clients = clients
        self._taken: set[socket.socket] = set()
        self._task = asyncio.get_running_loop().create_task(self._accept_all())

    def close(self) -> None:
        self._task.cancel()

    async def _accept_all(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._port)
            except ConnectionError:  # it was gone before it was accepted
                continue
            except OSError:  # no descriptors, no memory: the client waits in the backlog
                await asyncio.sleep(PAUSE_S)
                continue
            try:
                await self._take(connection)
            except Exception as error:
                connection.close()
                if not isinstance(error, OSError):
                    traceback.print_exception(error)

    async def _take(self, connection: socket.socket) -> None:
        if self._is_full() and not give_way(self._clients()):
            connection.setblocking(False)
            with suppress(OSError):
                connection.send(R421_TOO_MANY_CONNECTIONS + b"\r\n")
            connection.close()
            return
        self._taken.add(connection)
        await asyncio.get_running_loop().connect_accepted_socket(self._connected, connection)

    def _is_full(self) -> bool:
        if len(self._taken) < _room():
            return False
        self._taken = {connection for connection in self._taken if connection.fileno() >= 0}
        return len(self._taken) >= _room()


def _room() -> int:
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return MAX_INBOUND_CONNECTION
    return min(MAX_INBOUND_CONNECTION, descriptors // 2)
