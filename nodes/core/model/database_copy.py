"""A copy of a mailbox database on one server, and the logs that make the copies equal (TP-4).

The active copy numbers its changes without a gap; a log carries the epoch that it was made under
and that of the log before it, so a copy that has gone another way is distinguished from one that is
only behind. Times are lab time in Unix epoch milliseconds. `branches` say from which log on an
epoch holds: the pairs (epoch, last log before it), in order; epoch 0 begins at log 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class CopyState(Enum):
    """What a copy is. SINGLE: the database has no other copy and keeps no logs. A copy that was
    dismounted takes no delivery and still ships its logs. SEEDING: it is empty, of a database that
    is not, and of no use before everything has come from the active copy (TP-8). FAILED is
    reported, never stored.
    """

    SINGLE = "single"
    ACTIVE = "active"
    DISMOUNTED = "dismounted"
    PASSIVE = "passive"
    SEEDING = "seeding"
    FAILED = "failed"


SOURCES = frozenset({CopyState.ACTIVE, CopyState.DISMOUNTED})
"""The states in which a copy ships its logs."""


@dataclass(frozen=True, slots=True)
class ReplicationLog:
    """One log, without its content. `sha256` of the content, in hexadecimal."""

    database: str
    number: int
    epoch: int
    previous_epoch: int
    made_ms: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CopyStanding:
    """Where a copy stands, as its disk has it.

    `last_log` is the last one that it has made or replayed; a lagged copy has `received` more than
    that. `mounted_…` describe the last mount: when it was, and what the copy had before it.
    """

    database: str
    state: CopyState
    epoch: int
    created_ms: int
    last_log: int
    last_log_epoch: int
    last_log_ms: int
    received: int
    received_epoch: int
    mounted_ms: int
    mounted_after_log: int
    mounted_after_ms: int
    branches: tuple[tuple[int, int], ...]

    def epoch_of(self, number: int) -> int:
        """The epoch that log `number` of this copy was made under."""
        return max((epoch for epoch, after in self.branches if after < number), default=0)

    def has(self, number: int, epoch: int) -> bool:
        """Whether a copy whose last log is `number`, made under `epoch`, is behind this one, and
        has gone no other way.
        """
        return number <= self.last_log and self.epoch_of(number) == epoch


@dataclass(frozen=True, slots=True)
class CopyStatus:
    """What XCOPYSTATUS reports."""

    state: CopyState
    epoch: int
    last_log: int
    last_log_ms: int
    created_ms: int
