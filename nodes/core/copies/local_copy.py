"""This server's copy of a mailbox database, in memory: where it stands, its logs, whether it is
mounted.

One change is under way at a time; deliveries into it may be, and come in order. A copy that hears
of a later epoch elsewhere is dismounted at once and made passive as soon as the disk can.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nodes.core.config.config import NodeConfig
from nodes.core.engine.work import Because, Then, Work
from nodes.core.interface.copy_changes import CopyChange, FollowCopy
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import CopyChanged
from nodes.core.model.database_copy import (
    SOURCES,
    CopyStanding,
    CopyState,
    CopyStatus,
    ReplicationLog,
)

DISK_AGAIN_MS = 1000


@dataclass(frozen=True, slots=True)
class CopyHereChanged:
    """It stands elsewhere than before."""

    database: str


class CopyHere:
    """`standing` is None until the disk has reported it."""

    def __init__(self, database: str, lag_ms: int, work: Work) -> None:
        self.database = database
        self.lag_ms = lag_ms
        self.standing: CopyStanding | None = None
        self.logs: dict[int, ReplicationLog] = {}
        self.is_mounted = False
        self.failure = ""
        self._work = work
        self._is_changing = self._waits_for_disk = False
        self._wanted_epoch = 0

    @property
    def is_ready(self) -> bool:
        """Whether a change may be begun."""
        waits = self._wanted_epoch > self.epoch
        return self.standing is not None and not (self._is_changing or waits or self.failure)

    @property
    def epoch(self) -> int:
        return 0 if self.standing is None else self.standing.epoch

    @property
    def state(self) -> CopyState:
        """As it is reported: a copy that is to be active and was not mounted is dismounted."""
        if self.standing is None or self.failure:
            return CopyState.FAILED
        if self.standing.state is CopyState.ACTIVE and not self.is_mounted:
            return CopyState.DISMOUNTED
        return self.standing.state

    @property
    def is_source(self) -> bool:
        return self.standing is not None and self.standing.state in SOURCES

    def status(self) -> CopyStatus:
        standing = self.standing
        if standing is None:
            return CopyStatus(CopyState.FAILED, 0, 0, 0, 0)
        return CopyStatus(
            self.state,
            standing.epoch,
            standing.last_log,
            standing.last_log_ms,
            standing.created_ms,
        )

    def change(self, what: CopyChange, then: Then, failed: Because) -> None:
        """One of the two is called when the disk has answered."""
        assert not self._is_changing, f"{self.database}: two changes at a time"
        self._is_changing = True

        def changed(answer: CopyChanged) -> None:
            self._is_changing = False
            self.standing = answer.standing
            self.logs |= {log.number: log for log in answer.logs}
            then()
            self._look_again()

        def not_changed(reason: str) -> None:
            self._is_changing = False
            failed(reason)
            self._look_again()

        self._work.change_copy(self.database, what, changed, not_changed)

    def made(self, log: ReplicationLog) -> None:
        """A delivery has written this log."""
        assert self.standing is not None
        self.logs[log.number] = log
        self.standing = replace(
            self.standing,
            last_log=log.number,
            last_log_epoch=log.epoch,
            last_log_ms=log.made_ms,
            received=log.number,
            received_epoch=log.epoch,
        )
        self._changed()

    def drop_received_logs(self) -> None:
        """It is mounted: they are replayed or dropped, and the first of its own is that of the
        mount.
        """
        assert self.standing is not None
        last_log = self.standing.last_log
        self.logs = {n: log for n, log in self.logs.items() if n == last_log}

    def follow(self, epoch: int) -> None:
        """Another copy is active under this epoch."""
        self.is_mounted = False
        self._wanted_epoch = max(self._wanted_epoch, epoch)
        self._look_again()

    def fail(self, reason: str) -> None:
        """It is of no use until somebody mends it."""
        self.failure, self.is_mounted = reason, False
        self.log("copy-failed", (("reason", reason),))
        self._changed()

    def log(self, event: str, fields: tuple[tuple[str, str | int], ...] = ()) -> None:
        last_log = 0 if self.standing is None else self.standing.last_log
        about = (("database", self.database), ("epoch", self.epoch), ("last_log", last_log))
        self._work.emit(LogLifecycle(event, (*about, *fields)))

    def superseded(self, epoch: int) -> None:
        """Another copy may be active under this epoch, unless that is over."""
        if epoch > self.epoch:
            self.follow(epoch)

    def _changed(self) -> None:
        self._work.report(CopyHereChanged(self.database))

    def _look_again(self) -> None:
        if self.standing is None or self._is_changing or self._waits_for_disk:
            return
        if self._wanted_epoch > self.standing.epoch:
            self._follow()
        else:
            self._changed()

    def _follow(self) -> None:
        def followed() -> None:
            assert self.standing is not None
            last_log = self.standing.last_log
            self.logs = {n: log for n, log in self.logs.items() if n > last_log}
            self.log("copy-passive")

        def not_followed(_reason: str) -> None:
            self._waits_for_disk = True
            self._work.again(DISK_AGAIN_MS, self._follow_again)

        self.change(FollowCopy(self._wanted_epoch), followed, not_followed)

    def _follow_again(self) -> None:
        self._waits_for_disk = False
        self._look_again()


def copies_here(config: NodeConfig, work: Work) -> dict[str, CopyHere]:
    """Those of databases that have others, by database."""
    return {
        name: CopyHere(name, copy.replay_lag_ms, work)
        for name in sorted(config.copies)
        for copy in config.copies[name]
        if copy.server == config.me.name and len(config.copies[name]) > 1
    }
