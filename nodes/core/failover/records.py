"""What Active Manager has on disk, in memory. Changed one transaction after another, each made of
what the one before left, so that no two of them overlook each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from nodes.core.config.config import NodeConfig
from nodes.core.engine.work import Because, Then, Work
from nodes.core.failover.managed_databases import managed_databases
from nodes.core.interface.inputs import ManagerOpened
from nodes.core.interface.manager_changes import (
    InsertAsking,
    InsertFailover,
    ManagerChange,
    SetAsking,
    SetFailover,
    SetManagedDatabase,
    SetTelling,
)
from nodes.core.model.failover import (
    Asking,
    AskingState,
    Failover,
    FailoverState,
    ManagedDatabase,
    Telling,
)

Changes: TypeAlias = tuple[ManagerChange, ...]
Build: TypeAlias = Callable[[], Changes]


class ManagerRecords:
    """`databases` by name, `failovers` by (database, epoch), `tellings` by (database, server),
    open `askings` by (request id, server).
    """

    def __init__(self, config: NodeConfig, work: Work) -> None:
        self._work = work
        self.databases = {
            name: ManagedDatabase(name, config.databases[name], 0, 0)
            for name in managed_databases(config)
        }
        self.failovers: dict[tuple[str, int], Failover] = {}
        self.tellings: dict[tuple[str, str], Telling] = {}
        self.askings: dict[tuple[str, str], Asking] = {}
        self._waiting: deque[tuple[Build, Then, Because]] = deque()
        self._is_writing = False

    def opened(self, happened: ManagerOpened) -> None:
        self.databases |= {each.database: each for each in happened.databases}
        self.failovers = {(each.database, each.epoch): each for each in happened.failovers}
        self.tellings = {(each.database, each.server): each for each in happened.tellings}
        self.askings = {(each.request_id, each.server): each for each in happened.askings}

    def change(self, build: Build, then: Then, failed: Because = lambda reason: None) -> None:
        """`build` is called when everything before is durable; nothing is done where it gives no
        changes.
        """
        self._waiting.append((build, then, failed))
        self._write_next()

    def _write_next(self) -> None:
        while self._waiting and not self._is_writing:
            build, then, failed = self._waiting.popleft()
            changes = build()
            if changes:
                self._write(changes, then, failed)

    def _write(self, changes: Changes, then: Then, failed: Because) -> None:
        self._is_writing = True

        def committed() -> None:
            self._is_writing = False
            for change in changes:
                self._take_in(change)
            then()
            self._write_next()

        def not_committed(reason: str) -> None:
            self._is_writing = False
            failed(reason)
            self._write_next()

        self._work.commit(changes, committed, not_committed)

    def _take_in(self, change: ManagerChange) -> None:
        match change:
            case SetManagedDatabase(managed):
                self.databases[managed.database] = managed
            case InsertFailover(failover) | SetFailover(failover):
                self.failovers[(failover.database, failover.epoch)] = failover
            case SetTelling(telling):
                self.tellings[(telling.database, telling.server)] = telling
            case InsertAsking(asking):
                self.askings[(asking.request_id, asking.server)] = asking
            case SetAsking(asking):
                self._set_asking(asking)

    def _set_asking(self, asking: Asking) -> None:
        key = (asking.request_id, asking.server)
        if asking.state is AskingState.OPEN:
            self.askings[key] = asking
        else:
            del self.askings[key]

    def decided(self, database: str) -> Failover | None:
        """The failover of that database that is under way."""
        of_it = (f for f in self.failovers.values() if f.database == database)
        return next((f for f in of_it if f.state is FailoverState.DECIDED), None)

    def next_epoch(self, database: str) -> int:
        used = [epoch for name, epoch in self.failovers if name == database]
        return max([self.databases[database].epoch, *used]) + 1

    def between(self, database: str, after: int, to: int) -> tuple[Failover, ...]:
        """Failovers under epochs later than `after`, up to `to`."""
        return tuple(
            f for f in self.failovers.values() if f.database == database and after < f.epoch <= to
        )

    def given_up_since(self, database: str, epoch: int) -> tuple[Failover, ...]:
        """Failovers under later epochs that did not come about: their target may have mounted."""
        return tuple(
            f
            for f in self.failovers.values()
            if f.database == database and f.epoch > epoch and f.state is FailoverState.GIVEN_UP
        )
