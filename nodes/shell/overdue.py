"""Clients that have stayed too long by the real clock.

The core's time-outs (SR-6) are lab time, which stands still until the clock's start file is there.
Until then, and where there is no core, they count in real seconds: a client that says nothing is
cut, so is one that trickles, and none is cut off an answer that is being made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from nodes.core.config.config import ServerConfig
from nodes.core.interface.replies import R421_CONNECTION_TIMEOUT, R421_INACTIVITY_TIMEOUT
from nodes.shell.smtp.syntax import SmtpSyntax, on_the_wire

LOOK_S = 0.25


async def cut_overdue(
    connections: Callable[[], Iterable[SmtpSyntax]], config: ServerConfig
) -> None:
    """Until it is cancelled."""
    while True:
        await asyncio.sleep(LOOK_S)
        now_s = asyncio.get_running_loop().time()
        for connection in list(connections()):
            _look_at(connection, config, now_s)


def _look_at(connection: SmtpSyntax, config: ServerConfig, now_s: float) -> None:
    if connection.awaits_answer:
        return
    if now_s - connection.begun_s >= config.receive_connection_timeout_ms / 1000:
        connection.say_and_close(on_the_wire(R421_CONNECTION_TIMEOUT))
    elif now_s - connection.heard_s >= config.receive_inactivity_timeout_ms / 1000:
        connection.say_and_close(on_the_wire(R421_INACTIVITY_TIMEOUT))
