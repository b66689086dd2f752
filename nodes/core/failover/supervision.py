"""What Active Manager does by itself about what it sees (TP-6).

A copy that is to be active and was only dismounted is mounted again, under the epoch that it has.
One that is silent, failed or lost gives way to the best other one. One that is found active under a
later epoch than is known is taken for what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nodes.core.config.config import NodeConfig
from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Work
from nodes.core.failover.copy_choice import CopyChoice
from nodes.core.failover.copy_monitor import CopyMonitor, Seen
from nodes.core.failover.failover import MOUNT_AGAIN_MS, Failovers
from nodes.core.failover.management_calls import ManagementCalls
from nodes.core.failover.records import Changes, ManagerRecords, Writing
from nodes.core.interface.copy_commands import MountDatabase
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.manager_changes import SetManagedDatabase
from nodes.core.model.database_copy import SOURCES, CopyState, CopyStatus
from nodes.core.model.failover import FailoverKind, ManagedDatabase
from nodes.core.sessions.outbound_session import CopyAnswer


@dataclass(frozen=True, slots=True)
class Creation(Writing):
    """When a database was made."""

    records: ManagerRecords
    database: str
    created_ms: int

    def changes(self) -> Changes:
        now = self.records.databases[self.database]
        if now.created_ms == 0 or 0 < self.created_ms < now.created_ms:
            return (SetManagedDatabase(replace(now, created_ms=self.created_ms)),)
        return ()

    def __str__(self) -> str:
        return f"knows when {self.database} was made"


@dataclass(frozen=True, slots=True)
class LastLog(Writing):
    """The last log of the active copy. `managed`: as it was when that was seen."""

    records: ManagerRecords
    managed: ManagedDatabase
    last_log: int

    def changes(self) -> Changes:
        now = self.records.databases[self.managed.database]
        if now.epoch == self.managed.epoch and now.last_log < self.last_log:
            return (SetManagedDatabase(replace(now, last_log=self.last_log)),)
        return ()

    def __str__(self) -> str:
        return f"knows the last log of {self.managed.database}"


@dataclass(frozen=True, slots=True)
class OfDatabase(Waiting):
    supervision: Supervision
    database: str


@dataclass(frozen=True, slots=True)
class Rested(OfDatabase):
    def __call__(self) -> None:
        self.supervision.rested(self.database)

    def __str__(self) -> str:
        return f"asks all copies of {self.database} where they stand"


@dataclass(frozen=True, slots=True)
class MountAgain(OfDatabase):
    def answered(self, answer: CopyAnswer) -> None:
        self.supervision.mount_is_over(self.database)
        self.supervision.look_anew(self.database)

    def failed(self, reason: str) -> None:
        self.supervision.mount_is_over(self.database)

    def __str__(self) -> str:
        return f"asks all copies of {self.database} where they stand"


@dataclass(frozen=True, slots=True)
class MayMount(OfDatabase):
    def __call__(self) -> None:
        self.supervision.may_mount(self.database)

    def __str__(self) -> str:
        return f"may mount the same copy of {self.database} again"


class Supervision:
    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        calls: ManagementCalls,
        records: ManagerRecords,
        watching: CopyMonitor,
        choice: CopyChoice,
        failing_over: Failovers,
    ) -> None:
        self._config = config
        self._work = work
        self._calls = calls
        self._records = records
        self._watching = watching
        self._choice = choice
        self._failing_over = failing_over
        self._mounting: set[str] = set()
        self._resting: set[str] = set()
        self._helpless: set[str] = set()

    def look_anew(self, database: str) -> None:
        """What was seen so far is out of date."""
        self._watching.forget(database)
        for copy in self._config.copies[database]:
            self._watching.look(database, copy.server)

    def given_up(self, database: str) -> None:
        """A failover has not come about. Whatever stood in its way would be there again at once."""
        self._resting.add(database)
        self._work.again(MOUNT_AGAIN_MS, Rested(self, database))

    def rested(self, database: str) -> None:
        self._resting.discard(database)
        self.look_anew(database)

    def look(self, database: str) -> None:
        """Something more was seen of its copies."""
        if self._failing_over.is_under_way(database) or database in self._resting:
            return
        managed = self._records.databases[database]
        self._note_creation(managed)
        self._note_logs(managed)
        later = self._active_later(managed)
        seen = self._watching.seen(database, managed.server)
        if later is not None:
            self._failing_over.take_up(managed, *later)
        elif (cause := _cause(seen, managed)) is not None:
            self._fail_over(managed, seen, cause)
        else:
            self._helpless.discard(database)
            self._mount_again(managed, seen.status)

    def _statuses(self, database: str) -> list[tuple[str, CopyStatus]]:
        seen = (
            (c.server, self._watching.seen(database, c.server).status)
            for c in self._config.copies[database]
        )
        return [(server, status) for server, status in seen if status is not None]

    def _note_creation(self, managed: ManagedDatabase) -> None:
        """The oldest copy says when the database was made: nothing is lacking from before."""
        told = [s.created_ms for _, s in self._statuses(managed.database) if s.created_ms > 0]
        created_ms = min(told, default=0)
        if created_ms and (managed.created_ms == 0 or created_ms < managed.created_ms):
            self._records.change(Creation(self._records, managed.database, created_ms))

    def _note_logs(self, managed: ManagedDatabase) -> None:
        """Of the active copy; what another one would lack is reckoned from them."""
        status = self._watching.seen(managed.database, managed.server).status
        if status is None or status.epoch != managed.epoch:
            return
        if managed.last_log < status.last_log:
            self._records.change(LastLog(self._records, managed, status.last_log))

    def _active_later(self, managed: ManagedDatabase) -> tuple[int, str] | None:
        """Epoch and server of a copy that was mounted without this part's knowing."""
        found = [
            (status.epoch, server)
            for server, status in self._statuses(managed.database)
            if status.state in SOURCES and status.epoch > managed.epoch
        ]
        return max(found) if found else None

    def _mount_again(self, managed: ManagedDatabase, status: CopyStatus | None) -> None:
        database = managed.database
        is_down = status is not None and status.state is CopyState.DISMOUNTED
        if not is_down or database in self._mounting:
            return
        self._mounting.add(database)
        self._log("database-mounted-again", database, managed.server, "")
        command, mounting = MountDatabase(database, managed.epoch), MountAgain(self, database)
        self._calls.say(managed.server, command, mounting.answered, mounting.failed)

    def mount_is_over(self, database: str) -> None:
        self._work.again(MOUNT_AGAIN_MS, MayMount(self, database))

    def may_mount(self, database: str) -> None:
        self._mounting.discard(database)

    def _fail_over(self, managed: ManagedDatabase, seen: Seen, cause: str) -> None:
        database = managed.database
        last_log = max(managed.last_log, seen.last_log)
        target = self._choice.best(database, managed.server, last_log=last_log)
        if target is not None:
            self._helpless.discard(database)
            self._failing_over.decide(managed, FailoverKind.FAILOVER, cause, target)
        elif database not in self._helpless:
            self._helpless.add(database)
            self._log("failover-impossible", database, managed.server, cause)

    def _log(self, event: str, database: str, server: str, reason: str) -> None:
        fields = (("database", database), ("server", server), ("reason", reason))
        self._work.emit(LogLifecycle(event, fields))


def _cause(seen: Seen, managed: ManagedDatabase) -> str | None:
    """Why the copy that is to be active is of no use, if so."""
    if seen.is_silent:
        return f"silent: {seen.reason}"
    status = seen.status
    if status is None or (status.state in SOURCES and status.epoch == managed.epoch):
        return None
    return f"{status.state.value} under {status.epoch}"
