"""The steps of a failover or switchover: what is awaited in each, and what follows it.

Plain values: whom the step is of, and in words what it does then. How it is done is for
`failover.py`, which is the `Course` of each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from nodes.core.engine.waiting import Waiting
from nodes.core.failover.records import Changes, ManagerRecords, Writing
from nodes.core.interface.inputs import MountAnswered
from nodes.core.interface.manager_changes import InsertFailover, SetFailover
from nodes.core.interface.replies import R451_FAILOVER_NOT_STORED, FailoverReply
from nodes.core.model.failover import Failover, FailoverKind, ManagedDatabase
from nodes.core.model.failover_states import FailoverMove, after
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.outbound_session import CopyAnswer


class Course(Protocol):
    """What goes on with failovers after a step."""

    records: ManagerRecords

    def new(
        self, managed: ManagedDatabase, kind: FailoverKind, cause: str, target: str
    ) -> Failover: ...

    def decided(self, failover: Failover) -> None: ...

    def not_decided(self, database: str) -> None: ...

    def go(self, failover: Failover) -> None: ...

    def go_later(self, failover: Failover) -> None: ...

    def put_off(self, failover: Failover, reason: str) -> None: ...

    def source_answered(self, failover: Failover, answer: CopyAnswer) -> None: ...

    def logs_answered(self, failover: Failover, answer: CopyAnswer) -> None: ...

    def mount_answered(self, failover: Failover, answer: CopyAnswer) -> None: ...

    def not_mounted(self, failover: Failover, reason: str) -> None: ...

    def of_mount(self, failover: Failover, answer: MountAnswered) -> Changes: ...

    def mounted(self, failover: Failover) -> None: ...

    def given_up(self, failover: Failover, reason: str) -> None: ...

    def is_over(self, failover: Failover) -> bool: ...

    def over(self, failover: Failover) -> None: ...

    def look_for_end(self, database: str) -> None: ...

    def look_for_end_later(self, database: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Decision(Writing):
    """Another copy is to be active. `asked_by`: who wants that target and no other."""

    course: Course
    managed: ManagedDatabase
    kind: FailoverKind
    cause: str
    target: str
    asked_by: InboundSession | None
    before_ms: int | None

    def changes(self) -> Changes:
        new = self.course.new(self.managed, self.kind, self.cause, self.target)
        is_requested = self.asked_by is not None
        return (InsertFailover(replace(new, is_requested=is_requested, before_ms=self.before_ms)),)

    def written(self, changes: Changes) -> None:
        failover = _written(changes)
        self.course.decided(failover)
        if self.asked_by is not None:
            self.asked_by.reply(FailoverReply(failover.epoch, failover.target))
        self.course.go(failover)

    def refused(self, reason: str) -> None:
        self.course.not_decided(self.managed.database)
        if self.asked_by is not None:
            self.asked_by.reply(R451_FAILOVER_NOT_STORED)

    def __str__(self) -> str:
        return f"begins the {self.kind.value} of {self.managed.database} to {self.target}"


@dataclass(frozen=True, slots=True)
class TakenUp(Writing):
    """A copy is found active under a later epoch; `known` is its failover, which was given up."""

    course: Course
    managed: ManagedDatabase
    epoch: int
    target: str
    known: Failover | None

    def changes(self) -> Changes:
        if self.known is not None:
            again = replace(self.known, state=after(self.known.state, FailoverMove.TAKE_UP))
            return (SetFailover(again, self.known.state),)
        new = self.course.new(self.managed, FailoverKind.FAILOVER, "found active", self.target)
        return (InsertFailover(replace(new, epoch=self.epoch)),)

    def written(self, changes: Changes) -> None:
        failover = _written(changes)
        self.course.decided(failover)
        self.course.go(failover)

    def refused(self, reason: str) -> None:
        self.course.not_decided(self.managed.database)

    def __str__(self) -> str:
        return f"takes up that {self.managed.database} is active on {self.target}"


@dataclass(frozen=True, slots=True)
class Step(Waiting):
    """A failover goes on, at a time or with an answer."""

    course: Course
    failover: Failover


@dataclass(frozen=True, slots=True)
class Next(Step):
    """What could not be done is tried again."""

    def __call__(self) -> None:
        self.course.go(self.failover)

    def __str__(self) -> str:
        database, target = self.failover.database, self.failover.target
        return f"tries the {self.failover.kind.value} of {database} to {target} again"


@dataclass(frozen=True, slots=True)
class Dismount(Step):
    """The copy before is asked to take no delivery any more."""

    def answered(self, answer: CopyAnswer) -> None:
        self.course.source_answered(self.failover, answer)

    def failed(self, reason: str) -> None:
        self.course.put_off(self.failover, reason)

    def __str__(self) -> str:
        database, target = self.failover.database, self.failover.target
        return f"asks whether {target} has every log of {database}"


@dataclass(frozen=True, slots=True)
class AllLogs(Step):
    """The target is asked which logs it has."""

    def answered(self, answer: CopyAnswer) -> None:
        self.course.logs_answered(self.failover, answer)

    def failed(self, reason: str) -> None:
        self.course.put_off(self.failover, reason)

    def __str__(self) -> str:
        database, target = self.failover.database, self.failover.target
        last_log = self.failover.dismounted_log
        return f"mounts {database} on {target} if that has its log {last_log}"


@dataclass(frozen=True, slots=True)
class Mount(Step):
    """The target is asked to be active."""

    def answered(self, answer: CopyAnswer) -> None:
        self.course.mount_answered(self.failover, answer)

    def failed(self, reason: str) -> None:
        self.course.not_mounted(self.failover, reason)

    def __str__(self) -> str:
        return f"writes down that {self.failover.database} is active on {self.failover.target}"


@dataclass(frozen=True, slots=True)
class StepWriting(Writing):
    """A failover is at another step; what the disk refuses is done again."""

    course: Course
    failover: Failover

    @property
    def now(self) -> Failover:
        """As it is on disk."""
        return self.course.records.failovers[(self.failover.database, self.failover.epoch)]

    def refused(self, reason: str) -> None:
        self.course.go_later(self.failover)


@dataclass(frozen=True, slots=True)
class Dismounted(StepWriting):
    last_log: int

    def changes(self) -> Changes:
        return (SetFailover(replace(self.now, dismounted_log=self.last_log), self.now.state),)

    def written(self, changes: Changes) -> None:
        self.course.go(self.failover)

    def __str__(self) -> str:
        return str(Dismount(self.course, self.failover))


@dataclass(frozen=True, slots=True)
class GivenUp(StepWriting):
    reason: str

    def changes(self) -> Changes:
        state = after(self.failover.state, FailoverMove.GIVE_UP)
        return (SetFailover(replace(self.now, state=state), self.now.state),)

    def written(self, changes: Changes) -> None:
        self.course.given_up(self.failover, self.reason)

    def __str__(self) -> str:
        return f"looks at {self.failover.database} anew: {self.reason}"


@dataclass(frozen=True, slots=True)
class Mounted(StepWriting):
    """With it, who is to be informed and which Safety Nets are to be asked."""

    answer: MountAnswered

    def changes(self) -> Changes:
        return self.course.of_mount(self.now, self.answer)

    def written(self, changes: Changes) -> None:
        self.course.mounted(_written(changes))

    def refused(self, reason: str) -> None:
        self.course.not_mounted(self.failover, reason)

    def __str__(self) -> str:
        database, target = self.failover.database, self.failover.target
        return f"informs servers that {database} is active on {target}"


@dataclass(frozen=True, slots=True)
class Over(StepWriting):
    """Nothing of it is left to be done."""

    def changes(self) -> Changes:
        now = self.now
        if not self.course.is_over(now):
            return ()
        return (SetFailover(replace(now, state=after(now.state, FailoverMove.FINISH)), now.state),)

    def written(self, changes: Changes) -> None:
        self.course.over(self.failover)

    def refused(self, reason: str) -> None:
        self.course.look_for_end_later(self.failover.database)

    def __str__(self) -> str:
        return f"has done with the {self.failover.kind.value} of {self.failover.database}"


@dataclass(frozen=True, slots=True)
class LookForEnd(Waiting):
    course: Course
    database: str

    def __call__(self) -> None:
        self.course.look_for_end(self.database)

    def __str__(self) -> str:
        return f"looks whether failovers of {self.database} are over"


def _written(changes: Changes) -> Failover:
    """The failover that the first of these changes is of."""
    first = changes[0]
    assert isinstance(first, InsertFailover | SetFailover)
    return first.failover
