"""What Active Manager keeps: which copy of each mailbox database is active, how another one becomes
so, who is still to be informed, and what Safety Nets are still to be asked for (TP-6, SN-4, SN-6,
SN-7).

Plain values, all of them on disk, so that whatever was under way is taken up again after a kill.
Times are lab time in Unix epoch milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource


class FailoverKind(Enum):
    """A switchover first dismounts the copy that is active, so that nothing is lost."""

    FAILOVER = "failover"
    SWITCHOVER = "switchover"


class FailoverState(Enum):
    """Where it is. Legal moves stand in `failover_states.TRANSITIONS`."""

    DECIDED = "decided"
    MOUNTED = "mounted"
    OVER = "over"
    GIVEN_UP = "given up"


class AskingState(Enum):
    """Whether a server is still asked; GIVEN_UP when its Safety Net has nothing left of it."""

    OPEN = "open"
    COMPLETED = "completed"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class ManagedDatabase:
    """The copy on `server` is the active one, since `epoch`. `created_ms`: when the mailbox
    database was made, 0 while no copy has reported it. `last_log`: the last log that the active
    copy is known to have.
    """

    database: str
    server: str
    epoch: int
    created_ms: int
    last_log: int = 0


@dataclass(frozen=True, slots=True)
class Failover:
    """From the copy on `source` to that on `target`, under `epoch`.

    `is_requested`: somebody wants that target and no other. `dismounted_log`: the last log of a
    copy that was dismounted for it. `start_ms`: from there on the new copy may lack what was
    delivered before `mounted_ms`; None where it lacks nothing. `before_ms`: a lagged copy is to be
    as the database was then (SN-20); None as it stands.
    """

    database: str
    epoch: int
    kind: FailoverKind
    cause: str
    source: str
    target: str
    state: FailoverState
    decided_ms: int
    is_requested: bool = False
    dismounted_log: int | None = None
    mounted_ms: int | None = None
    start_ms: int | None = None
    before_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Telling:
    """`server` is to know that the copy on `target` is active under `epoch`. `learnt_ms`: from then
    on, by its own clock, it has brought nothing to the copy before; None until it has answered.
    """

    database: str
    server: str
    epoch: int
    target: str
    learnt_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """What the Safety Net of `server` is asked for, under `request_id`.

    `primary`: whose copies a Shadow Safety Net is asked for, empty for a server's own. `end_ms` is
    None until the server was informed which copy is active. `silent_since_ms`: its last answer;
    `broadcast_ms`: when the others were asked in its place.
    """

    request_id: str
    server: str
    database: str
    epoch: int
    source: SafetyNetSource
    primary: str
    start_ms: int
    end_ms: int | None
    silent_since_ms: int
    state: AskingState = AskingState.OPEN
    broadcast_ms: int | None = None
    resubmitted: int = 0

    @property
    def demand(self) -> ResubmitDemand:
        """Only of one whose end is known. A clock that is behind leaves an interval of 1 ms."""
        assert self.end_ms is not None
        return ResubmitDemand(
            self.request_id,
            self.source,
            self.database,
            self.start_ms,
            max(self.end_ms, self.start_ms + 1),
            (self.primary,) if self.primary else (),
        )
