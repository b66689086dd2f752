"""Active Manager's database behind a thread: commits in order, answers on the event loop.

What the disk refuses is an answer; what is our own mistake ends the node (`fail`). There is no
mail, so nothing is ever delivered or read here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from nodes.core.interface.effects import Commit
from nodes.core.interface.inputs import CommitFailed, Committed, Input
from nodes.core.model.message import BodyHandle
from nodes.shell.storage.bodies import Bodies
from nodes.shell.storage.writing import Store, Write
from nodes.store.manager_database import ManagerDatabase

Answers: TypeAlias = tuple[Committed | CommitFailed, ...]


class ManagerDisk:
    """Owns the database and closes it."""

    def __init__(
        self,
        database: ManagerDatabase,
        give: Callable[[Input], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self.bodies = Bodies(lambda internal_id: None)
        self._database = database
        self._give = give
        self._fail = fail
        self._writing = 0
        self._commits = ThreadPoolExecutor(1, "commits")

    def write(self, effect: Write) -> None:
        assert isinstance(effect, Commit), f"Active Manager has no Safety Net: {effect}"
        self._writing += 1
        loop = asyncio.get_running_loop()
        writing = loop.run_in_executor(self._commits, self._database.commit, (effect,))
        writing.add_done_callback(self._written)

    def _written(self, done: asyncio.Future[Answers]) -> None:
        self._writing -= 1
        if done.cancelled():  # at the end, with the threads
            return
        error = done.exception()
        if error is not None:
            self._fail(error)
            return
        for answer in done.result():
            self._give(answer)

    def deliver(self, effect: Store) -> None:
        raise AssertionError(f"Active Manager has no mailboxes and no copies: {effect}")

    def read(self, handle: BodyHandle) -> asyncio.Future[bytes]:
        raise AssertionError(f"Active Manager has no mail: {handle}")

    def measure(self) -> None:
        raise AssertionError("Active Manager has no queue database")

    def count(self, session: str) -> None:
        raise AssertionError("Active Manager has no Safety Nets")

    async def use(self, percent: int) -> None:
        """There is no queue database here."""

    async def fill(self, is_full: bool) -> None:
        """The database does not grow from now on; or may again. Raises sqlite3.Error."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._commits, self._database.limit_growth, is_full)

    @property
    def is_busy(self) -> bool:
        return self._writing > 0

    def close(self) -> None:
        self._commits.shutdown(cancel_futures=True)
        self._database.close()
