"""Changes of a copy of a mailbox database: one effect each (`ChangeCopy`), one transaction each.

They are carried out in order with the deliveries into that database, so what was asked for before a
dismount is in it and nothing after. Those of its Outbox, and of a mailbox that moves, are for an
active copy, or one that has no other; elsewhere nothing happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.model.database_copy import CopyState, ReplicationLog
from nodes.core.model.message import BodyHandle
from nodes.core.model.outbox import OutboxItem


@dataclass(frozen=True, slots=True)
class OpenCopy:
    """The file is there, or is made, and is one of several copies: a new one is `state`. Answered
    with all logs that it keeps.
    """

    state: CopyState
    at_ms: int


@dataclass(frozen=True, slots=True)
class MountCopy:
    """Active from here on. Under a higher epoch than before it begins with a log of its own, which
    comes with the answer; what it had received and not replayed it replays where that was made
    before `before_ms`, and drops.
    """

    epoch: int
    at_ms: int
    before_ms: int | None = None


@dataclass(frozen=True, slots=True)
class DismountCopy:
    """Expects it active: it takes no delivery any more."""


@dataclass(frozen=True, slots=True)
class FollowCopy:
    """Another copy is active under this higher epoch: passive from here on, without own logs."""

    epoch: int


@dataclass(frozen=True, slots=True)
class ReplayLog:
    """The next log of the copy that is active under `epoch`: replayed at once, or only kept for
    later (ReplayLagTime). Not changed where the content does not fit its checksum.
    """

    epoch: int
    log: ReplicationLog
    body: BodyHandle
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class ReplayKeptLog:
    """The log that follows the last one replayed, kept here, is replayed."""

    number: int


@dataclass(frozen=True, slots=True)
class SeedCopy:
    """Everything in this copy gives way to what the active copy has."""

    epoch: int
    body: BodyHandle


@dataclass(frozen=True, slots=True)
class DropLogs:
    """Every copy has these."""

    up_to: int


@dataclass(frozen=True, slots=True)
class CorruptMailboxes:
    """Expects it active: its mailboxes lose what they show, by a log that comes with the answer."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class AwaitDeliveries:
    """Changes nothing. Answered when every delivery that was asked for before is in the copy."""


@dataclass(frozen=True, slots=True)
class ImportMailbox:
    """A mailbox that moves here shows what it showed before, in place of whatever it showed when it
    was here the last time. What DeliveredTo has stays as it is (DD-3).
    """

    address: str
    body: BodyHandle
    at_ms: int


@dataclass(frozen=True, slots=True)
class InsertOutboxItem:
    """A client submits this item (SR-8)."""

    item: OutboxItem
    body: BodyHandle
    at_ms: int


@dataclass(frozen=True, slots=True)
class RemoveOutboxItem:
    """Transport has acknowledged it. One that is not there any more is no mistake."""

    item_id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class ReadOutbox:
    """Changes nothing. Answered with every item of the Outbox."""


CopyChange: TypeAlias = (
    OpenCopy
    | MountCopy
    | DismountCopy
    | FollowCopy
    | ReplayLog
    | ReplayKeptLog
    | SeedCopy
    | DropLogs
    | CorruptMailboxes
    | AwaitDeliveries
    | ImportMailbox
    | InsertOutboxItem
    | RemoveOutboxItem
    | ReadOutbox
)
