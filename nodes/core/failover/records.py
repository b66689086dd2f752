"""What Active Manager has on disk, in memory. Changed one transaction after another, each made of
what the one before left, so that no two of them overlook each other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.config.config import NodeConfig
from nodes.core.engine.waiting import Wait, Waiting
from nodes.core.engine.work import Work
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


class Writing(Waiting):
    """Something to be written down, and whoever goes on when it is."""

    __slots__ = ()

    @abstractmethod
    def changes(self) -> Changes:
        """Made of what is on disk by now; none where it is needed no more."""

    def written(self, changes: Changes) -> None:
        """They are durable, and taken in."""

    def refused(self, reason: str) -> None:
        """The disk did not take them."""


@dataclass(frozen=True, slots=True)
class Transaction(Waiting):
    """The one that the disk has now."""

    records: ManagerRecords
    changes: Changes
    writing: Writing

    def committed(self) -> None:
        self.records.committed(self)

    def refused(self, reason: str) -> None:
        self.records.refused(self, reason)

    def __str__(self) -> str:
        return str(self.writing)


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
        self._waiting: deque[Writing] = deque()
        self._is_writing = False

    def opened(self, happened: ManagerOpened) -> None:
        self.databases |= {each.database: each for each in happened.databases}
        self.failovers = {(each.database, each.epoch): each for each in happened.failovers}
        self.tellings = {(each.database, each.server): each for each in happened.tellings}
        self.askings = {(each.request_id, each.server): each for each in happened.askings}

    def change(self, writing: Writing) -> None:
        """Its changes are asked for when everything before is durable."""
        self._waiting.append(writing)
        self._write_next()

    def waits(self) -> Iterator[Wait]:
        """What is to be written after the transaction that the disk has."""
        for writing in self._waiting:
            yield Wait("the transaction before", str(writing))

    def _write_next(self) -> None:
        while self._waiting and not self._is_writing:
            writing = self._waiting.popleft()
            changes = writing.changes()
            if changes:
                self._is_writing = True
                transaction = Transaction(self, changes, writing)
                self._work.commit(changes, transaction.committed, transaction.refused)

    def committed(self, transaction: Transaction) -> None:
        self._is_writing = False
        for change in transaction.changes:
            self._take_in(change)
        transaction.writing.written(transaction.changes)
        self._write_next()

    def refused(self, transaction: Transaction, reason: str) -> None:
        self._is_writing = False
        transaction.writing.refused(reason)
        self._write_next()

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
