"""The node's databases, each on one thread: commits grouped on one, deliveries and reading on
another.

Commits that wait while one is being written go together into the next transaction, so many waiting
messages cost one synchronisation. Answers come back in order, on the event loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias, TypeVar

from nodes.core import inputs
from nodes.core.effects import (
    Commit,
    DeliverToMailboxes,
    ExpireSafetyNet,
    InsertMessage,
    InsertShadow,
)
from nodes.core.message import BodyHandle
from nodes.shell.bodies import Bodies
from nodes.store.mailbox_database import MailboxDatabase
from nodes.store.queue_database import QueueDatabase

Give: TypeAlias = Callable[[inputs.Input], None]
T = TypeVar("T")
Answers: TypeAlias = tuple[inputs.Input, ...]


class Disk:
    """Carries out the effects that end on disk; `give` gets each answer on the event loop."""

    def __init__(
        self, database: QueueDatabase, folder: Path, server: str, bodies: Bodies, give: Give
    ) -> None:
        self._database = database
        self._reader = database.reader()
        self._folder = folder
        self._server = server
        self._bodies = bodies
        self._give = give
        self._mailboxes: dict[str, MailboxDatabase] = {}
        self._waiting: list[Commit | ExpireSafetyNet] = []
        self._writing: asyncio.Future[Answers] | None = None
        self._commits = ThreadPoolExecutor(1, "commits")
        self._deliveries = ThreadPoolExecutor(1, "deliveries")
        self._under_way: set[asyncio.Task[None]] = set()

    # -------------------------------------------------------------- the queue database

    def commit(self, effect: Commit | ExpireSafetyNet) -> None:
        self._waiting.append(effect)
        if self._writing is None:
            self._write()

    def _write(self) -> None:
        """Hand everything that waits to the commit thread, as far as it can go together."""
        group = self._next_group()
        loop = asyncio.get_running_loop()
        writing = loop.run_in_executor(self._commits, self._carry_out, group)
        self._writing = writing
        writing.add_done_callback(lambda done: self._written(group, done))

    def _next_group(self) -> list[Commit | ExpireSafetyNet]:
        first = self._waiting[0]
        if isinstance(first, ExpireSafetyNet):
            return [self._waiting.pop(0)]
        count = next(
            (i for i, e in enumerate(self._waiting) if isinstance(e, ExpireSafetyNet)),
            len(self._waiting),
        )
        group, self._waiting = self._waiting[:count], self._waiting[count:]
        return group

    def _carry_out(self, group: list[Commit | ExpireSafetyNet]) -> Answers:
        first = group[0]
        if isinstance(first, ExpireSafetyNet):
            return (self._database.expire_safety_net(first.now_ms),)
        commits = [effect for effect in group if isinstance(effect, Commit)]
        return self._database.commit(commits, self._bodies.fetch)

    def _written(
        self, group: list[Commit | ExpireSafetyNet], done: asyncio.Future[Answers]
    ) -> None:
        self._writing = None
        for effect, answer in zip(group, done.result(), strict=True):
            if isinstance(effect, Commit) and isinstance(answer, inputs.Committed):
                self._note_stored(effect)
            self._give(answer)
        if self._waiting and self._writing is None:
            self._write()

    def _note_stored(self, effect: Commit) -> None:
        for change in effect.changes:
            if isinstance(change, InsertMessage):
                self._bodies.stored(change.body, change.message.internal_id)
            elif isinstance(change, InsertShadow):
                self._bodies.drop(change.body)

    # -------------------------------------------------------------- mailboxes and reading

    def deliver(self, effect: DeliverToMailboxes) -> None:
        self._start(self._deliver(effect))

    async def _deliver(self, effect: DeliverToMailboxes) -> None:
        try:
            content = await self.read(effect.body)
            answer: inputs.Input = await self._on_deliveries(
                lambda: self._mailbox_database(effect.database).deliver(effect, content)
            )
        except (sqlite3.Error, OSError, KeyError) as error:
            answer = inputs.MailboxDeliveryFailed(effect.delivery, str(error))
        self._give(answer)

    async def read(self, handle: BodyHandle) -> bytes:
        """A body, from memory or from the queue database; raises KeyError where it is gone."""
        found = self._bodies.find(handle)
        if found is None:
            internal_id = int(handle.removeprefix("db:"))
            found = await self._on_deliveries(lambda: self._reader.read_body(internal_id))
        if found is None:
            raise KeyError(handle)
        return found

    async def _on_deliveries(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._deliveries, work)

    def _mailbox_database(self, name: str) -> MailboxDatabase:
        if name not in self._mailboxes:
            self._mailboxes[name] = MailboxDatabase.open(self._folder, name, self._server)
        return self._mailboxes[name]

    def _start(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    # -------------------------------------------------------------- the end

    def is_busy(self) -> bool:
        return self._writing is not None or bool(self._waiting) or bool(self._under_way)

    def close(self) -> None:
        """Wait for what is being written, then close every file."""
        self._commits.shutdown()
        self._deliveries.shutdown()
        self._reader.close()
        self._database.close()
        for mailboxes in self._mailboxes.values():
            mailboxes.close()
