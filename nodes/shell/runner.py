"""A node as a process: `python3 -m nodes.shell.runner CONFIG`. One event loop drives the core.

Inputs are handled one at a time, written down, and their effects carried out in order. SIGTERM
stops the node: it takes nothing new, lets what is being written end, and closes. SIGKILL may come
at any moment; that is what the order of effects is for.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
import traceback
import uuid
from collections import deque
from pathlib import Path
from typing import Any, NoReturn

from nodes.core import effects, inputs
from nodes.core.config import NodeConfig, read_config
from nodes.core.effects import LogLifecycle
from nodes.core.message import BodyHandle
from nodes.core.node import Node
from nodes.core.parameters import ConfigurationError
from nodes.shell.bodies import Bodies
from nodes.shell.certificates import Certificates, outside_context
from nodes.shell.clock import POLL_S, LabClock
from nodes.shell.disk import Disk
from nodes.shell.logs import Logs
from nodes.shell.smtp_client import Contexts, OutboundSessions
from nodes.shell.smtp_server import InboundSessions
from nodes.store.queue_database import open_queue_database

EX_USAGE, EX_UNAVAILABLE, EX_SOFTWARE = 64, 69, 70
STOP_S = 3.0


class Runner:
    """Carries one node: core, sessions, disk, logs, clock. Made of a configuration document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.config: NodeConfig = read_config(document)
        self.clock = LabClock.from_config(document["LabClock"])
        self._document = document
        self._node = Node(self.config)
        self._logs = Logs(Path(document["Logs"]), self.config, self.clock)
        self._bodies = Bodies()
        self._happened: deque[inputs.Input] = deque()
        self._is_handling = False
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._listener: asyncio.Server | None = None
        self._stopped = asyncio.Event()

    # -------------------------------------------------------------- a life

    async def run(self) -> None:
        """Until `stop`. Raises OSError where the port or the disk is not to be had."""
        self._open()
        self._listener = await self._listen()
        clock = asyncio.create_task(self._wait_for_start())
        await self._stopped.wait()
        clock.cancel()
        await self._close()

    def stop(self) -> None:
        self._stopped.set()

    def _open(self) -> None:
        folder = Path(self._document["Data"])
        folder.mkdir(parents=True, exist_ok=True)
        self._logs.lifecycle(LogLifecycle("started", (("pid", os.getpid()),)))
        opening = open_queue_database(
            folder / "queue.db", self.clock.now_ms(), lambda: str(uuid.uuid4())
        )
        self._logs.set_database_id(opening.opened.database_id)
        self._disk = Disk(opening.database, folder, self.config.me.name, self._bodies, self.give)
        certificates = Certificates.from_config(self._document["Tls"])
        self._inbound = InboundSessions(self, certificates.server_context())
        contexts = Contexts(certificates.client_context(), outside_context())
        self._outbound = OutboundSessions(self, _links(self._document), contexts)
        if opening.set_aside is not None:
            self.give(opening.set_aside)
        self.give(opening.opened)

    async def _listen(self) -> asyncio.Server:
        host, port = _address(self._document["Listen"]["smtp"])
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(self._inbound.protocol, host, port, backlog=512)
        bound = listener.sockets[0].getsockname()[1]
        self._logs.lifecycle(LogLifecycle("listening", (("port", bound),)))
        return listener

    async def _wait_for_start(self) -> None:
        while not self.clock.is_started():
            await asyncio.sleep(POLL_S)
        self._set_timer()

    async def _close(self) -> None:
        """Nothing new; what is under way gets a short time, the rest is as after a crash."""
        assert self._listener is not None
        self._listener.close()
        self.give(inputs.StopRequested())
        deadline = asyncio.get_running_loop().time() + STOP_S
        while self._disk.is_busy() and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)
        self._is_closed = True
        self._inbound.close_all()
        self._outbound.close_all()
        self._disk.close()
        self._logs.lifecycle(LogLifecycle("stopped"))
        self._logs.close()

    # -------------------------------------------------------------- what sessions need

    def lab_now_ms(self) -> int:
        return self.clock.now_ms()

    def offer_body(self, content: bytes) -> BodyHandle:
        return self._bodies.offer(content)

    async def read_body(self, handle: BodyHandle) -> bytes:
        return await self._disk.read(handle)

    # -------------------------------------------------------------- driving the core

    def give(self, happened: inputs.Input) -> None:
        """Take an input. One given while another is being handled comes after it."""
        if self._is_closed:
            return
        self._happened.append(happened)
        if not self._is_handling:
            self._handle_all()

    def _handle_all(self) -> None:
        self._is_handling = True
        try:
            while self._happened:
                happened = self._happened.popleft()
                now_ms = self.clock.now_ms()
                self._logs.input(happened, now_ms)
                for effect in self._node.handle(happened, now_ms):
                    self._carry_out(effect)
        except Exception:
            self._crash()
        self._is_handling = False
        self._set_timer()

    def _crash(self) -> NoReturn:
        """A mistake of ours. What is on disk is right and what is in memory may not be: end here,
        as a kill would, and be started again.
        """
        traceback.print_exc()
        self._logs.lifecycle(LogLifecycle("crashed", (("reason", traceback.format_exc()),)))
        os._exit(EX_SOFTWARE)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline_ms = self._node.next_deadline_ms()
        delay_s = None if deadline_ms is None else self.clock.wall_delay_s(deadline_ms)
        if delay_s is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(delay_s, self._deadline_reached)

    def _deadline_reached(self) -> None:
        """The loop's clock may wake us a moment early."""
        self._timer = None
        deadline_ms = self._node.next_deadline_ms()
        if deadline_ms is not None and deadline_ms <= self.clock.now_ms():
            self.give(inputs.DeadlineReached())
        else:
            self._set_timer()

    def _carry_out(self, effect: effects.Effect) -> None:
        match effect:
            case effects.LogTracking():
                self._logs.tracking(effect)
            case effects.LogConnectivity():
                self._logs.connectivity(effect)
            case effects.LogLifecycle():
                self._logs.lifecycle(effect)
            case effects.Commit() | effects.ExpireSafetyNet():
                self._disk.commit(effect)
            case effects.DeliverToMailboxes():
                self._disk.deliver(effect)
            case effects.DropBody(body):
                self._bodies.drop(body)
            case effects.SendReply(session, reply):
                self._inbound.reply(session, reply)
            case effects.CloseSession(session, reply):
                self._inbound.close(session, reply)
            case effects.OpenSession():
                self._outbound.open(effect)
            case effects.Transmit():
                self._outbound.transmit(effect)
            case effects.AskDiscard():
                self._outbound.ask_discard(effect)
            case effects.HangUp(session):
                self._outbound.hang_up(session)


def _links(document: dict[str, Any]) -> dict[str, tuple[str, int]]:
    links: dict[str, dict[str, str]] = document.get("Links", {})
    return {server: _address(services["smtp"]) for server, services in links.items()}


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


async def _live(document: dict[str, Any]) -> None:
    runner = Runner(document)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, runner.stop)
    await runner.run()


def main(arguments: list[str]) -> int:
    """Exit code: 0 after a stop, 64 for a wrong configuration, 69 where port or disk fails."""
    if len(arguments) != 1:
        print("usage: python3 -m nodes.shell.runner CONFIG", file=sys.stderr)
        return EX_USAGE
    try:
        asyncio.run(_live(json.loads(Path(arguments[0]).read_text())))
    except ConfigurationError as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return EX_USAGE
    except (KeyError, ValueError) as error:
        print(f"{arguments[0]}: {type(error).__name__}: {error}", file=sys.stderr)
        return EX_USAGE
    except (OSError, sqlite3.Error) as error:
        print(f"cannot start: {error}", file=sys.stderr)
        return EX_UNAVAILABLE
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
