"""A failover or switchover of a mailbox database, step by step, each taken up again after a kill
(TP-6).

Decided, with its epoch and target, before anything is said; for a switchover the copy before is
dismounted, and the target has all its logs; the target mounts; who is to be informed and asked is
written down with its answer. Every step can be done again: servers know it by its epoch.
"""

from __future__ import annotations

from dataclasses import replace

from nodes.core.config.config import NodeConfig
from nodes.core.engine.work import COMMIT_RETRY_MS, Work
from nodes.core.failover.events import FailoverGivenUp, FailoverMounted
from nodes.core.failover.management_calls import ManagementCalls
from nodes.core.failover.records import Changes, ManagerRecords
from nodes.core.failover.steps import (
    AllLogs,
    Decision,
    Dismount,
    Dismounted,
    GivenUp,
    LookForEnd,
    Mount,
    Mounted,
    Next,
    Over,
    TakenUp,
)
from nodes.core.interface.copy_commands import AskCopyStatus, DismountDatabase, MountDatabase
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import (
    CopyCommandRefused,
    CopyStatusAnswered,
    DismountAnswered,
    MountAnswered,
)
from nodes.core.interface.manager_changes import (
    InsertAsking,
    SetFailover,
    SetManagedDatabase,
    SetTelling,
)
from nodes.core.model.failover import (
    Asking,
    Failover,
    FailoverKind,
    FailoverState,
    ManagedDatabase,
    Telling,
)
from nodes.core.model.failover_states import FailoverMove, after
from nodes.core.model.lab_time import iso
from nodes.core.model.resubmit_request import SafetyNetSource
from nodes.core.routing.boundary import boundary_of, servers_of
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.outbound_session import CopyAnswer

MARGIN_MS = 5 * 60_000
"""Safety Nets are asked from so long before the last log that the new copy has (SN-4): clocks of
servers differ, and a delivery is noted a little after its log."""
SWITCHOVER_MS = 60_000
"""A switchover that takes longer is given up, and the copy before is mounted again."""
AGAIN_MS = 1_000
MOUNT_AGAIN_MS = 5_000
MOUNT_TRIES = 3
REQUEST_MS = 10 * 60_000
"""How long a target that was asked for is waited for; any other gives way after a few tries."""


class Failovers:
    def __init__(
        self, config: NodeConfig, work: Work, calls: ManagementCalls, records: ManagerRecords
    ) -> None:
        self._config = config
        self._work = work
        self._calls = calls
        self.records = records
        self._deciding: set[str] = set()
        self._tries: dict[str, int] = {}

    def begin(self) -> None:
        """After a start: what was decided goes on, what was mounted may be over."""
        for database in self.records.databases:
            failover = self.records.decided(database)
            if failover is not None:
                self._log("failover-taken-up", failover)
                self.go(failover)
            self.look_for_end(database)

    def is_under_way(self, database: str) -> bool:
        return database in self._deciding or self.records.decided(database) is not None

    def decide(
        self,
        managed: ManagedDatabase,
        kind: FailoverKind,
        cause: str,
        target: str,
        *,
        asked_by: InboundSession | None = None,
        before_ms: int | None = None,
    ) -> None:
        """Another copy is to be active; `asked_by` is answered when that is durable."""
        self._deciding.add(managed.database)
        self.records.change(Decision(self, managed, kind, cause, target, asked_by, before_ms))

    def take_up(self, managed: ManagedDatabase, epoch: int, target: str) -> None:
        """That copy is found active under a later epoch: a failover that was given up, or is not
        known here any more.
        """
        found = self.records.failovers.get((managed.database, epoch))
        if found is not None and found.state is not FailoverState.GIVEN_UP:
            return
        self._deciding.add(managed.database)
        self.records.change(TakenUp(self, managed, epoch, target, found))

    def new(
        self, managed: ManagedDatabase, kind: FailoverKind, cause: str, target: str
    ) -> Failover:
        return Failover(
            managed.database,
            self.records.next_epoch(managed.database),
            kind,
            cause,
            managed.server,
            target,
            FailoverState.DECIDED,
            self._work.now_ms,
        )

    def decided(self, failover: Failover) -> None:
        self._deciding.discard(failover.database)
        self._log("failover-decided", failover)

    def not_decided(self, database: str) -> None:
        self._deciding.discard(database)

    def go(self, failover: Failover) -> None:
        """The next step of what is decided, as it is on disk now."""
        failover = self.records.failovers[(failover.database, failover.epoch)]
        if failover.state is not FailoverState.DECIDED:
            return
        if failover.kind is FailoverKind.FAILOVER:
            self._mount(failover)
        elif failover.dismounted_log is None:
            self._dismount(failover)
        else:
            self._wait_for_logs(failover)

    def go_later(self, failover: Failover) -> None:
        self._work.again(MOUNT_AGAIN_MS, Next(self, failover))

    def put_off(self, failover: Failover, reason: str) -> None:
        """A step of a switchover that could not be done."""
        if self._work.now_ms >= failover.decided_ms + SWITCHOVER_MS:
            self._give_up(failover, reason)
        else:
            self._work.again(AGAIN_MS, Next(self, failover))

    def _dismount(self, failover: Failover) -> None:
        epoch = self.records.databases[failover.database].epoch
        command, step = DismountDatabase(failover.database, epoch), Dismount(self, failover)
        self._calls.say(failover.source, command, step.answered, step.failed)

    def source_answered(self, failover: Failover, answer: CopyAnswer) -> None:
        if isinstance(answer, DismountAnswered):
            self.records.change(Dismounted(self, failover, answer.last_log))
        else:
            self.put_off(failover, _refusal(answer))

    def _wait_for_logs(self, failover: Failover) -> None:
        """Until the target has every log of the copy that was dismounted."""
        command, step = AskCopyStatus(failover.database), AllLogs(self, failover)
        self._calls.say(failover.target, command, step.answered, step.failed)

    def logs_answered(self, failover: Failover, answer: CopyAnswer) -> None:
        last_log = failover.dismounted_log
        assert last_log is not None
        if isinstance(answer, CopyStatusAnswered) and answer.status.last_log >= last_log:
            self._mount(failover)
        else:
            self.put_off(failover, f"{failover.target} lacks logs")

    def _mount(self, failover: Failover) -> None:
        command = MountDatabase(failover.database, failover.epoch, failover.before_ms)
        step = Mount(self, failover)
        self._calls.say(failover.target, command, step.answered, step.failed)

    def mount_answered(self, failover: Failover, answer: CopyAnswer) -> None:
        if isinstance(answer, MountAnswered):
            self._tries.pop(failover.database, None)
            self.records.change(Mounted(self, failover, answer))
        else:
            is_over = isinstance(answer, CopyCommandRefused) and answer.code >= 500
            self.not_mounted(failover, _refusal(answer), is_over=is_over)

    def not_mounted(self, failover: Failover, reason: str, *, is_over: bool = False) -> None:
        tries = self._tries[failover.database] = self._tries.get(failover.database, 0) + 1
        is_patient = failover.is_requested and (
            self._work.now_ms < failover.decided_ms + REQUEST_MS
        )
        if is_over or (tries >= MOUNT_TRIES and not is_patient):
            self._give_up(failover, reason)
        else:
            self.go_later(failover)

    def _give_up(self, failover: Failover, reason: str) -> None:
        self._tries.pop(failover.database, None)
        self.records.change(GivenUp(self, failover, reason))

    def given_up(self, failover: Failover, reason: str) -> None:
        self._log("failover-given-up", failover, (("reason", reason),))
        self._work.report(FailoverGivenUp(failover.database))

    def of_mount(self, failover: Failover, answer: MountAnswered) -> Changes:
        """What is written down with its answer; the failover itself comes first."""
        managed = self.records.databases[failover.database]
        start_ms = self._start_ms(failover, managed, answer)
        state = after(failover.state, FailoverMove.MOUNT)
        mounted = replace(failover, state=state, mounted_ms=answer.mounted_ms, start_ms=start_ms)
        moved = replace(
            managed, server=failover.target, epoch=failover.epoch, last_log=answer.last_log
        )
        return (
            SetFailover(mounted, failover.state),
            SetManagedDatabase(moved),
            *map(SetTelling, self._tellings(mounted)),
            *map(InsertAsking, self._askings(mounted)),
        )

    def mounted(self, failover: Failover) -> None:
        self._log("failover-mounted", failover)
        self._work.report(FailoverMounted(failover.database))

    def _start_ms(
        self, failover: Failover, managed: ManagedDatabase, answer: MountAnswered
    ) -> int | None:
        """From when on the new copy may lack something; None after a switchover that lost nothing.

        A copy that was to be active in between may have taken mail since that was decided: under an
        epoch that was given up, or of which the new copy has no log. However late its own last log
        is, that one is of another branch.
        """
        between = self.records.given_up_since(failover.database, managed.epoch)
        missed = self.records.between(failover.database, answer.last_log_epoch, managed.epoch)
        dismounted_log = failover.dismounted_log
        has_all = dismounted_log is not None and answer.last_log >= dismounted_log
        if has_all and not between and not missed:
            return None
        since_ms = min([answer.last_log_ms, *(f.decided_ms for f in (*between, *missed))])
        return max(since_ms - MARGIN_MS, managed.created_ms, 0)

    def _tellings(self, failover: Failover) -> list[Telling]:
        return [
            Telling(failover.database, name, failover.epoch, failover.target)
            for name in self._boundary()
        ]

    def _askings(self, failover: Failover) -> list[Asking]:
        if failover.start_ms is None:
            return []
        return [
            Asking(
                f"{failover.database}:{failover.epoch}",
                name,
                failover.database,
                failover.epoch,
                SafetyNetSource.PRIMARY,
                "",
                failover.start_ms,
                None,
                self._work.now_ms,
            )
            for name in self._boundary()
        ]

    def _boundary(self) -> tuple[str, ...]:
        """Whoever delivers into mailbox databases of this DAG: nobody outside it does (SR-10), so
        nobody there is informed, or asked (SN-12).
        """
        return servers_of(self._config, boundary_of(self._config.me))

    def look_for_end(self, database: str) -> None:
        """It is over when everybody is informed and every Safety Net asked that is to be."""
        for failover in list(self.records.failovers.values()):
            if failover.database == database and self.is_over(failover):
                self.records.change(Over(self, failover))

    def look_for_end_later(self, database: str) -> None:
        self._work.again(COMMIT_RETRY_MS, LookForEnd(self, database))

    def is_over(self, failover: Failover) -> bool:
        if failover.state is not FailoverState.MOUNTED:
            return False
        name, epoch = failover.database, failover.epoch
        asked = ((a.database, a.epoch) for a in self.records.askings.values())
        untold = (
            (t.database, t.epoch) for t in self.records.tellings.values() if t.learnt_ms is None
        )
        return (name, epoch) not in asked and (name, epoch) not in untold

    def over(self, failover: Failover) -> None:
        self._log("failover-over", failover)

    def _log(
        self, event: str, failover: Failover, more: tuple[tuple[str, str | int], ...] = ()
    ) -> None:
        start_ms, mounted_ms = failover.start_ms, failover.mounted_ms
        before_ms = failover.before_ms
        fields = (
            ("database", failover.database),
            ("epoch", failover.epoch),
            ("kind", failover.kind.value),
            ("cause", failover.cause),
            ("from", failover.source),
            ("to", failover.target),
            ("start", "" if start_ms is None else iso(start_ms)),
            ("mounted", "" if mounted_ms is None else iso(mounted_ms)),
            ("before", "" if before_ms is None else iso(before_ms)),
        )
        self._work.emit(LogLifecycle(event, (*fields, *more)))


def _refusal(answer: CopyAnswer) -> str:
    if isinstance(answer, CopyCommandRefused):
        return f"{answer.code} {answer.text}"
    return "another answer"
