"""What the disk says."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.model.database_copy import CopyStanding, ReplicationLog
from nodes.core.model.failover import Asking, Failover, ManagedDatabase, Telling
from nodes.core.model.message import (
    ActiveCopy,
    Contact,
    DiscardNotification,
    PrimaryMessage,
    ShadowMessage,
)
from nodes.core.model.outbox import OutboxItem
from nodes.core.model.resubmit_request import KeptCopy, ResubmitRequest


@dataclass(frozen=True, slots=True)
class DatabaseOpened:
    """First input of a node's life: its queue database, without bodies and without Safety Nets.

    `created` says that the file is new; `starts` counts how often it was opened, this time
    included, and is durable before this input. `last_discard_sequence` is the highest ever used in
    this database. `next_safety_net_expiry_ms` is the earliest expiry of a copy, None without any.
    `created_ms` is when the database was made: its Safety Nets hold nothing from before (SN-9).
    `discards_asked`: when each shadow server last asked for notifications that waited for it.
    """

    database_id: str
    created: bool
    starts: int
    messages: tuple[PrimaryMessage, ...]
    shadows: tuple[ShadowMessage, ...]
    discards: tuple[DiscardNotification, ...]
    contacts: tuple[Contact, ...]
    last_discard_sequence: int
    next_safety_net_expiry_ms: int | None
    created_ms: int = 0
    resubmit_requests: tuple[ResubmitRequest, ...] = ()
    active_copies: tuple[ActiveCopy, ...] = ()
    discards_asked: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ManagerOpened:
    """First input of Active Manager's life: its database. Of failovers all, of askings those that
    are open; the rest as in `DatabaseOpened`.
    """

    database_id: str
    created: bool
    starts: int
    databases: tuple[ManagedDatabase, ...] = ()
    failovers: tuple[Failover, ...] = ()
    tellings: tuple[Telling, ...] = ()
    askings: tuple[Asking, ...] = ()


@dataclass(frozen=True, slots=True)
class DatabaseSetAside:
    """A damaged file was renamed to `renamed_to` before a new one was created; comes before
    `DatabaseOpened`.
    """

    path: str
    renamed_to: str
    reason: str


@dataclass(frozen=True, slots=True)
class DiskMeasured:
    """So much of the volume that holds the queue database is in use. The answer to `MeasureDisk`;
    it also comes at the start and when somebody else has used, or freed, some of it.
    """

    used_bytes: int


@dataclass(frozen=True, slots=True)
class CopiesCounted:
    """Answer to `CountCopies`: how many copies each Safety Net holds."""

    session: str
    primary: int
    shadow: int


@dataclass(frozen=True, slots=True)
class Committed:
    """The changes of `Commit(commit, …)` are durable, all of them."""

    commit: int


@dataclass(frozen=True, slots=True)
class CommitFailed:
    """None of the changes of `Commit(commit, …)` happened."""

    commit: int
    reason: str


@dataclass(frozen=True, slots=True)
class ConvertedMeasured:
    """Answer to `MeasureConverted`: a size for each body, in order; None where content conversion
    leaves it as it is.
    """

    measuring: int
    sizes_bytes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class ConvertedNotMeasured:
    """One of the bodies cannot be read."""

    measuring: int
    reason: str


@dataclass(frozen=True, slots=True)
class MailboxesDelivered:
    """Durable in the mailbox database; `duplicates` were turfed (DD-1). Together they are the
    recipients asked for. `log`: what other copies of the database are to replay, if there are any.
    """

    delivery: int
    delivered: tuple[str, ...]
    duplicates: tuple[str, ...]
    log: ReplicationLog | None = None


@dataclass(frozen=True, slots=True)
class MailboxDeliveryFailed:
    delivery: int
    reason: str


@dataclass(frozen=True, slots=True)
class ExpiredCopy:
    """A copy whose stay in a Safety Net ended. `which` is the queue that it left:
    `primary-safety-net`, `shadow-safety-net`, or `shadow` (never acknowledged, SN-2)."""

    which: str
    internal_id: int
    message_id: str
    network_message_id: str


@dataclass(frozen=True, slots=True)
class SafetyNetExpired:
    """Answer to `ExpireSafetyNet`: what went, and when the next copy is due (None: both are
    empty).
    """

    removed: tuple[ExpiredCopy, ...]
    next_expiry_ms: int | None


@dataclass(frozen=True, slots=True)
class DeliveredToCleanedUp:
    """Answer to `CleanUpDeliveredTo`, durable: how many rows went, and how many are left; `more` of
    them may go. `failure`: why none went, else empty.
    """

    database: str
    removed: int
    left: int
    more: bool = False
    failure: str = ""


@dataclass(frozen=True, slots=True)
class SafetyNetRead:
    """Answer to `ReadSafetyNet`: copies in order; `more` may follow behind the last of them."""

    read: int
    copies: tuple[KeptCopy, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class SafetyNetNotRead:
    read: int
    reason: str


@dataclass(frozen=True, slots=True)
class CopyChanged:
    """Answer to `ChangeCopy`, durable: where the copy stands now, and the logs that it keeps
    (`OpenCopy`) or keeps in addition. `outbox`: what `ReadOutbox` found.
    """

    change: int
    standing: CopyStanding
    logs: tuple[ReplicationLog, ...] = ()
    outbox: tuple[OutboxItem, ...] = ()


@dataclass(frozen=True, slots=True)
class CopyNotChanged:
    """Nothing of it happened."""

    change: int
    reason: str
