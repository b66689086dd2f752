"""A node as a process: `python3 -m nodes.shell.runner CONFIG`.

Puts the parts together and ends them: configuration, port, logs, databases, core, sessions. SIGTERM
stops a node: it takes nothing new, what is under way gets a short time, everything is closed.
SIGKILL may come at any moment; that is what the order of effects is for. A mistake of ours ends the
node by `fail`, in whatever order it comes; exit codes are in `nodes.shell.process`.
"""

from __future__ import annotations

if __name__ == "__main__":  # before everything that takes its time
    from nodes.shell.signals import keep_signals

    keep_signals()

import asyncio
import os
import socket
import sqlite3
import sys
import traceback
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodes.core.config.error import ConfigurationError
from nodes.core.interface.effects import Effect, LogLifecycle
from nodes.core.interface.inputs import (
    DirectoryRead,
    FrontEndStarted,
    Input,
    StopRequested,
)
from nodes.core.interface.replies import R421_STOPPING
from nodes.core.model.message import BodyHandle
from nodes.shell.chaos.breakpoints import Breakpoints, nowhere
from nodes.shell.chaos.control_files import ControlFiles
from nodes.shell.chaos.machine import read_machine, tell_found
from nodes.shell.clock import NodeClock
from nodes.shell.config_file import NodeFile
from nodes.shell.core_loop import CORES, CoreLoop
from nodes.shell.effect_table import effect_table
from nodes.shell.logs.files import LogFolder
from nodes.shell.logs.logs import Logs
from nodes.shell.overdue import cut_overdue
from nodes.shell.process import (
    EX_CANTCREAT,
    EX_IOERR,
    EX_SOFTWARE,
    EX_USAGE,
    CannotStart,
    said,
    serve,
)
from nodes.shell.signals import heed, leave
from nodes.shell.smtp.client import OutboundSessions, Route
from nodes.shell.smtp.inbound_connection import InboundConnection
from nodes.shell.smtp.listener import Listener, bind
from nodes.shell.smtp.server import InboundConnections
from nodes.shell.storage.any_disk import AnyDisk, AnyOpening
from nodes.shell.storage.directory import DirectoryWatch
from nodes.shell.storage.disk import Disk
from nodes.shell.tls import towards_the_outside
from nodes.shell.uptime import boot_id, keep_skew, kept_skew_ms
from nodes.store.queue.database import open_queue_database

STOP_S = 3.0


class Runner:
    """One node. Made of its configuration; lives in `run`."""

    connection = InboundConnection

    def __init__(self, file: NodeFile) -> None:
        """Raises ConfigurationError where the certificates are of no use."""
        self._file = file
        if file.certificates is None:
            raise ConfigurationError("Tls: is missing", "servers know each other by certificates")
        self._tls = file.certificates.towards_clients()
        self._route = Route(
            file.links,
            file.certificates.towards_servers(),
            towards_the_outside(),
            file.other_links,
        )
        wall_skew_ms = file.clock.skew_ms + _machine_skew_ms(file.data)
        self._steady_skew_ms = kept_skew_ms(file.data, boot_id(), wall_skew_ms)
        self._clock = NodeClock(replace(file.clock, skew_ms=self._steady_skew_ms))
        self._clock.skew(wall_skew_ms)
        core = CORES[file.node.me.role](file.node)
        self._core_loop = CoreLoop(core, self._clock, self._write_down, self._carry_out, self.fail)
        self._table = effect_table(self)
        self._breakpoints: Breakpoints | None = None
        self._has_disk = self._has_begun = False
        self._directory = DirectoryWatch(file.data)
        self._disk_percent = 0
        self._stopped = asyncio.Event()
        self._failure: BaseException | None = None

    async def run(self) -> int:
        """Until it is stopped; gives the exit code. Raises CannotStart."""
        port = bind(self._file.listen)
        with port:
            self.logs = self._open_logs()
            shown = (("pid", os.getpid()), ("settings", self._file.node.settings))
            self.logs.lifecycle(LogLifecycle("configured", shown))
            opening = self._open_database()
            self._breakpoints = self._open_breakpoints()
            self._put_together(opening)
            await self._find_machine()
            listener = self._begin(opening, port)
            lab_time = asyncio.create_task(self._wait_for_lab_time())
            await self._stopped.wait()
            lab_time.cancel()
            listener.close()
        await self._end()
        return EX_SOFTWARE if self._failure else 0

    def machine_changed(self) -> None:
        """The lab says so."""
        if self._has_disk:  # else it is looked at before the node begins
            self._looking = asyncio.create_task(self._look_again())

    def stop(self) -> None:
        self._stopped.set()

    def fail(self, error: BaseException) -> None:
        """A mistake of ours: nothing is carried out any more, the process ends."""
        if self._failure is None:
            self._failure = error
            self._stopped.set()
            traceback.print_exception(error)
            self._core_loop.end()

    async def _find_machine(self) -> None:
        """Bear with what the lab has done to the machine, and say so. Raises CannotStart."""
        try:
            machine = read_machine(self._file.data)
            self._clock.skew(self._file.clock.skew_ms + machine.skew_ms)
            await self.disk.fill(machine.disk_is_full)
            await self._use_disk(machine.disk_percent)
            if machine.order:
                tell_found(self._file.data, machine, {"mono_ns": self._clock.mono_ns()})
        except (OSError, ValueError, sqlite3.Error) as error:
            raise CannotStart(EX_IOERR, str(error)) from error

    async def _use_disk(self, percent: int) -> None:
        if percent != self._disk_percent:
            self._disk_percent = percent
            await self.disk.use(percent)

    async def _look_again(self) -> None:
        with self._own():
            await self._find_machine()
            if self._has_begun:
                self._read_directory(at_start=False)

    def _read_directory(self, *, at_start: bool) -> None:
        """Once for each version of it. Raises CannotStart."""
        try:
            directory = self._directory.news()
            if directory is not None:
                created, moved = directory.databases, directory.mailboxes
                states = directory.inactive, directory.not_authenticating
                self.give(DirectoryRead(directory.groups, at_start, created, moved, *states))
                self._directory.tell_read()
        except (OSError, ValueError) as error:
            raise CannotStart(EX_IOERR, str(error)) from error

    def _open_logs(self) -> Logs:
        addresses = {server: address.host for server, address in self._file.links.items()}
        try:
            self._file.data.mkdir(parents=True, exist_ok=True)
            keep_skew(self._file.data, boot_id(), self._steady_skew_ms)
            return Logs(LogFolder(self._file.logs), self._file.node, addresses, self._clock)
        except OSError as error:
            raise CannotStart(EX_CANTCREAT, str(error)) from error

    def _open_breakpoints(self) -> Breakpoints | None:
        """None but where the lab asks for them."""
        if not self._file.breakpoints:
            return None
        clock, data = self._clock, self._file.data
        try:
            files = ControlFiles(data, clock.lab_ms, clock.mono_ns, self.fail)
        except OSError as error:
            raise CannotStart(EX_CANTCREAT, str(error)) from error
        return Breakpoints(
            self._file.breakpoints,
            files.spent(),
            clock.lab_ms,
            self._core_loop.give,
            self._do,
            files.held,
        )

    def _open_database(self) -> AnyOpening:
        path = self._file.data / "queue.db"
        try:
            return open_queue_database(path, self._clock.now_ms(), new_database_id)
        except (sqlite3.Error, OSError) as error:
            raise CannotStart(EX_IOERR, f"{path}: {error}") from error

    def _open_disk(self, opening: Any) -> AnyDisk:
        file, node = self._file, self._file.node
        in_group = nowhere if self._breakpoints is None else self._breakpoints.in_group
        return Disk(
            opening.database,
            file.data,
            node.me.name,
            self.give,
            self.fail,
            in_group,
            node.server.queue_database_volume_bytes,
        )

    def _put_together(self, opening: AnyOpening) -> None:
        file = self._file
        database_id = _database_id(opening)
        self.logs.name_database(database_id)
        self.disk = self._open_disk(opening)
        self._has_disk = True
        self.inbound = InboundConnections(
            self, file.node, self.disk.bodies, self._tls, self.connection
        )
        self.inbound.database_id = database_id
        self.outbound = OutboundSessions(self, file.node, self._route)

    def _begin(self, opening: AnyOpening, port: socket.socket) -> Listener:
        """Give the core what the disk holds, then let clients in. Raises CannotStart."""
        self._has_begun = True
        self._read_directory(at_start=True)
        if opening.set_aside is not None:
            self.give(opening.set_aside)
        self.give(opening.opened)
        listener = Listener(port, self.inbound.connected, self.inbound.connections)
        database_id, port_said = _database_id(opening), ("port", int(port.getsockname()[1]))
        named = (("database_id", database_id),) if database_id else ()
        self.logs.lifecycle(LogLifecycle("started", (*named, port_said)))
        return listener

    async def _wait_for_lab_time(self) -> None:
        cutting = asyncio.create_task(self._cut_overdue())
        try:
            with self._own():
                await self._core_loop.wait_for_lab_time()
        finally:
            cutting.cancel()

    async def _cut_overdue(self) -> None:
        """Until lab time runs: then the core does it."""
        with self._own():
            await cut_overdue(self.inbound.connections, self._file.node.server)

    async def _end(self) -> None:
        """What is under way gets a short time; the rest is as after a crash."""
        if self._failure is None:
            with self._own():
                if self._breakpoints is not None:
                    self._breakpoints.let_all_go()
                self.give(StopRequested())
                await self._wait_until_quiet()
        self._core_loop.end()
        with self._own():
            self.inbound.close_all(R421_STOPPING)
        with self._own():
            self.outbound.close_all()
        with self._own():
            await asyncio.to_thread(self.disk.close)
        self.logs.lifecycle(self._last_words())
        self.logs.close()

    @contextmanager
    def _own(self) -> Iterator[None]:
        """What goes wrong in here is a mistake of ours, and keeps nothing else from its end."""
        try:
            yield
        except Exception as error:
            self.fail(error)

    def _last_words(self) -> LogLifecycle:
        if self._failure is None:
            return LogLifecycle("stopped")
        return LogLifecycle("crashed", (("reason", said(self._failure)),))

    async def _wait_until_quiet(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + STOP_S
        while (self.disk.is_busy or self.inbound.await_answers) and loop.time() < until:
            await asyncio.sleep(0.01)

    def give(self, happened: Input) -> None:
        """Never raises: whoever gives, a session or a disk, has nothing to do with our mistakes."""
        with self._own():
            if self._breakpoints is None:
                self._core_loop.give(happened)
            else:
                self._breakpoints.give(happened)

    def session_failed(self, session: str, error: Exception) -> None:
        """One session has ended by a mistake of ours; the node goes on."""
        traceback.print_exception(error)
        fields = (("session", session), ("reason", said(error)))
        self.logs.lifecycle(LogLifecycle("session-failed", fields))

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def body(self, handle: BodyHandle) -> Awaitable[bytes]:
        return self.disk.read(handle)

    def _write_down(self, happened: Input, now_ms: int) -> None:
        self.logs.input(happened, now_ms)

    def _carry_out(self, effect: Effect) -> None:
        if self._breakpoints is None:
            self._do(effect)
        else:
            self._breakpoints.carry_out(effect)

    def _do(self, effect: Effect) -> None:
        self._table[type(effect)](effect)


def _database_id(opening: AnyOpening) -> str:
    """Empty where there is no database."""
    opened = opening.opened
    return "" if isinstance(opened, FrontEndStarted) else opened.database_id


def _machine_skew_ms(data: Path) -> int:
    """Raises ConfigurationError where nobody can say."""
    try:
        return read_machine(data).skew_ms
    except OSError:  # what is the matter with the folder is said where it is opened
        return 0
    except ValueError as error:
        raise ConfigurationError(str(error), "") from error


def new_database_id() -> str:
    """A GUID by chance, as RFC 9562 wants it (version 4)."""
    chance = bytearray(os.urandom(16))
    chance[6], chance[8] = chance[6] & 0x0F | 0x40, chance[8] & 0x3F | 0x80
    text = chance.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


async def _live(file: NodeFile) -> int:
    runner = Runner(file)
    heed(asyncio.get_running_loop(), runner.stop, runner.machine_changed)
    return await runner.run()


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m nodes.shell.runner CONFIG", file=sys.stderr)
        return EX_USAGE
    return serve(Path(arguments[0]), "mailbox", _live)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
