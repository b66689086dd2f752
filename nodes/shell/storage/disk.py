"""The databases of a node behind threads: commits on one, deliveries on another, bodies read on a
third.

Answers come back on the event loop, in order. What the disk refuses is an answer; what is our own
mistake ends the node (`fail`).
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

from nodes.core.interface.inputs import DiskMeasured, Input
from nodes.core.model.message import BodyHandle
from nodes.shell.chaos.breakpoints import InGroup, nowhere
from nodes.shell.storage.bodies import Bodies
from nodes.shell.storage.volume import Volume
from nodes.shell.storage.writing import (
    Answers,
    Store,
    Write,
    let_go_of_stored,
    next_group,
    store,
    write_group,
)
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.queue.database import Halfway, QueueDatabase

Give: TypeAlias = Callable[[Input], None]
Fail: TypeAlias = Callable[[BaseException], None]


class Disk:
    """Carries out the effects that end on disk; owns the databases and closes them."""

    def __init__(
        self,
        database: QueueDatabase,
        folder: Path,
        server: str,
        give: Give,
        fail: Fail,
        in_group: InGroup = nowhere,
        volume_bytes: int = 0,
    ) -> None:
        self._database = database
        self._in_group = in_group
        self._reader = database.reader()
        self.bodies = Bodies(self._reader.read_body, self._read_copy)
        self._folder = folder
        self._volume = Volume(folder, volume_bytes)
        self._server = server
        self._give = give
        self._fail = fail
        self._mailboxes: dict[str, MailboxDatabase] = {}
        self._is_full = False
        self._mailbox_readers: dict[str, MailboxDatabase] = {}
        self._waiting: list[Write] = []
        self._is_writing = False
        self._delivering = 0
        self._commits = ThreadPoolExecutor(1, "commits")
        self._deliveries = ThreadPoolExecutor(1, "deliveries")
        self._reading = ThreadPoolExecutor(1, "reading")

    def write(self, effect: Write) -> None:
        self._waiting.append(effect)
        if not self._is_writing:
            self._write_next()

    def _write_next(self) -> None:
        group = next_group(self._waiting)
        self._is_writing = True
        loop = asyncio.get_running_loop()
        writing = loop.run_in_executor(self._commits, self._carry_out, group, self._halfway(group))
        writing.add_done_callback(lambda done: self._written(group, done))

    def _halfway(self, group: list[Write]) -> Halfway:
        """What happens in the middle of the transaction: nothing, unless the lab holds it there."""
        gate, loop = threading.Event(), asyncio.get_running_loop()
        tell = self._in_group(gate.set) if len(group) > 1 else None
        if tell is None:
            return lambda: None

        def halt() -> None:
            loop.call_soon_threadsafe(tell)
            gate.wait()

        return halt

    def _carry_out(self, group: list[Write], halfway: Halfway) -> Answers:
        return write_group(self._database, self.bodies, group, halfway)

    def _written(self, group: list[Write], done: asyncio.Future[Answers]) -> None:
        self._is_writing = False
        if done.cancelled():  # at the end, with the threads
            return
        error = done.exception()
        if error is not None:
            self._fail(error)
            return
        if self._waiting:  # the disk need not wait for what the answers lead to
            self._write_next()
        for effect, answer in zip(group, done.result(), strict=True):
            let_go_of_stored(self.bodies, effect, answer)
            self._give(answer)

    def deliver(self, effect: Store) -> None:
        """Into mailboxes; or a change of a copy, in order with what is delivered into it."""
        self._delivering += 1
        loop = asyncio.get_running_loop()
        delivering = loop.run_in_executor(self._deliveries, self._store, effect)
        delivering.add_done_callback(self._delivered)

    def _store(self, effect: Store) -> Input:
        return store(self._mailbox_database, self.bodies, effect)

    def _read_copy(self, handle: BodyHandle) -> bytes | None:
        name = handle.split(":")[1]
        if name not in self._mailbox_readers:
            self._mailbox_readers[name] = MailboxDatabase.to_read(self._folder, name)
        return self._mailbox_readers[name].read(handle)

    def _mailbox_database(self, name: str) -> MailboxDatabase:
        if name not in self._mailboxes:
            opened = MailboxDatabase.open(self._folder, name, self._server)
            opened.limit_growth(self._is_full)
            self._mailboxes[name] = opened
        return self._mailboxes[name]

    def _delivered(self, done: asyncio.Future[Input]) -> None:
        self._delivering -= 1
        if done.cancelled():
            return
        error = done.exception()
        if error is not None:
            self._fail(error)
        else:
            self._give(done.result())

    def read(self, handle: BodyHandle) -> asyncio.Future[bytes]:
        """The bytes behind a handle, as they are now. May end in BodyGone or sqlite3.Error."""
        loop = asyncio.get_running_loop()
        content = self.bodies.at_hand(handle)
        if content is None:
            return loop.run_in_executor(self._reading, self.bodies.fetch, handle)
        found: asyncio.Future[bytes] = loop.create_future()
        found.set_result(content)
        return found

    def measure(self) -> None:
        """How much of the volume is in use; the answer comes as an input."""
        loop = asyncio.get_running_loop()
        loop.run_in_executor(self._reading, self._used).add_done_callback(self._looked)

    def count(self, session: str) -> None:
        """How many copies the Safety Nets hold; the answer comes as an input."""
        loop = asyncio.get_running_loop()
        counting = loop.run_in_executor(self._reading, self._reader.count_copies, session)
        counting.add_done_callback(self._looked)

    def _used(self) -> DiskMeasured:
        self._volume.look_after(self._reader)
        return DiskMeasured(self._volume.used_bytes(self._reader))

    def _looked(self, done: asyncio.Future[Any]) -> None:
        if done.cancelled():
            return
        error = done.exception()
        if error is None:
            self._give(done.result())
        elif not isinstance(error, sqlite3.Error | OSError):
            self._fail(error)

    async def use(self, percent: int) -> None:
        """Somebody else uses so much of the volume that so many percent are in use now, and says
        so. Raises OSError, sqlite3.Error.
        """
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._reading, self._volume.use, self._reader, percent)
        self.measure()

    async def fill(self, is_full: bool) -> None:
        """No database grows from now on; or each may again. Raises sqlite3.Error."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._commits, self._database.limit_growth, is_full)
        await loop.run_in_executor(self._deliveries, self._fill_mailboxes, is_full)

    def _fill_mailboxes(self, is_full: bool) -> None:
        self._is_full = is_full
        for mailboxes in self._mailboxes.values():
            mailboxes.limit_growth(is_full)

    @property
    def is_busy(self) -> bool:
        return self._is_writing or self._delivering > 0

    def close(self) -> None:
        """Wait for what is being written, then close every file."""
        for threads in (self._commits, self._deliveries, self._reading):
            threads.shutdown(cancel_futures=True)
        self._reader.close()
        self._database.close()
        for mailboxes in (*self._mailboxes.values(), *self._mailbox_readers.values()):
            mailboxes.close()
