"""Everything that can happen to a node. Past facts, plain values, written down as they come: they
are the replay.

Four families: what the disk says, what Active Directory says, what inbound sessions (this server
was called) say, what outbound sessions (this server calls) say. `session` is a string that the
caller chose for inbound sessions and that the core chose for outbound ones (`out-<n>`). At any time
one command of an inbound session awaits its `SendReply`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.interface.inputs.directory import DirectoryRead
from nodes.core.interface.inputs.disk import (
    CommitFailed,
    Committed,
    ConvertedMeasured,
    ConvertedNotMeasured,
    CopiesCounted,
    CopyChanged,
    CopyNotChanged,
    DatabaseOpened,
    DatabaseSetAside,
    DeliveredToCleanedUp,
    DiskMeasured,
    ExpiredCopy,
    MailboxDeliveryFailed,
    MailboxesDelivered,
    ManagerOpened,
    SafetyNetExpired,
    SafetyNetNotRead,
    SafetyNetRead,
)
from nodes.core.interface.inputs.inbound import (
    ActiveCopyNamed,
    CommandNotUnderstood,
    ConnectionLost,
    CopyStatusAsked,
    CorruptionRequested,
    DeliveryRequested,
    DiscardAsked,
    DismountAsked,
    FailoverRequested,
    ForkAnnounced,
    LaggedCopyRequested,
    LogAnnounced,
    MailboxAnnounced,
    MessageOffered,
    MountAsked,
    MoveRequested,
    OutboxRequested,
    PeerAuthenticated,
    QueuesAsked,
    RecipientOffered,
    RedirectRequested,
    ResubmitChangeAsked,
    ResubmitListAsked,
    ResubmitRequested,
    SeedAnnounced,
    SeedAsked,
    SenderOffered,
    SessionAccepted,
    SessionActive,
    ShadowRequested,
    SwitchoverRequested,
    TransactionReset,
)
from nodes.core.interface.inputs.outbound import (
    ActiveCopyAnswered,
    CopyCommandRefused,
    CopyStatusAnswered,
    DiscardAnswered,
    DiscardRefused,
    DismountAnswered,
    MountAnswered,
    PassedCommandAnswered,
    ResubmitAnswered,
    ResubmitRefused,
    SeedPromised,
    SessionFailed,
    SessionLost,
    SessionOpened,
    TransmissionActive,
    TransmissionAnswered,
)

__all__ = [
    "ActiveCopyAnswered",
    "ActiveCopyNamed",
    "CommandNotUnderstood",
    "CommitFailed",
    "Committed",
    "ConnectionLost",
    "ConvertedMeasured",
    "ConvertedNotMeasured",
    "CopiesCounted",
    "CopyChanged",
    "CopyCommandRefused",
    "CopyNotChanged",
    "CopyStatusAnswered",
    "CopyStatusAsked",
    "CorruptionRequested",
    "DatabaseOpened",
    "DatabaseSetAside",
    "DeadlineReached",
    "DeliveredToCleanedUp",
    "DeliveryRequested",
    "DirectoryRead",
    "DiscardAnswered",
    "DiscardAsked",
    "DiscardRefused",
    "DiskMeasured",
    "DismountAnswered",
    "DismountAsked",
    "ExpiredCopy",
    "FailoverRequested",
    "ForkAnnounced",
    "FrontEndStarted",
    "Input",
    "LaggedCopyRequested",
    "LogAnnounced",
    "MailboxAnnounced",
    "MailboxDeliveryFailed",
    "MailboxesDelivered",
    "ManagerOpened",
    "MessageOffered",
    "MountAnswered",
    "MountAsked",
    "MoveRequested",
    "OutboxRequested",
    "PassedCommandAnswered",
    "PeerAuthenticated",
    "QueuesAsked",
    "RecipientOffered",
    "RedirectRequested",
    "ResubmitAnswered",
    "ResubmitChangeAsked",
    "ResubmitListAsked",
    "ResubmitRefused",
    "ResubmitRequested",
    "SafetyNetExpired",
    "SafetyNetNotRead",
    "SafetyNetRead",
    "SeedAnnounced",
    "SeedAsked",
    "SeedPromised",
    "SenderOffered",
    "SessionAccepted",
    "SessionActive",
    "SessionFailed",
    "SessionLost",
    "SessionOpened",
    "ShadowRequested",
    "StopRequested",
    "SwitchoverRequested",
    "TransactionReset",
    "TransmissionActive",
    "TransmissionAnswered",
]


@dataclass(frozen=True, slots=True)
class DeadlineReached:
    """`next_deadline_ms()` has come."""


@dataclass(frozen=True, slots=True)
class FrontEndStarted:
    """First input of a front end's life: it keeps nothing that could be read (TP-7)."""


@dataclass(frozen=True, slots=True)
class StopRequested:
    """The host will stop this node; take no new work, finish nothing by force."""


Input: TypeAlias = (
    DatabaseOpened
    | DirectoryRead
    | ManagerOpened
    | FrontEndStarted
    | DatabaseSetAside
    | DiskMeasured
    | Committed
    | CommitFailed
    | MailboxesDelivered
    | MailboxDeliveryFailed
    | SafetyNetExpired
    | SafetyNetRead
    | SafetyNetNotRead
    | ConvertedMeasured
    | ConvertedNotMeasured
    | CopiesCounted
    | CopyChanged
    | CopyNotChanged
    | DeliveredToCleanedUp
    | SessionAccepted
    | PeerAuthenticated
    | ShadowRequested
    | DeliveryRequested
    | ForkAnnounced
    | OutboxRequested
    | SenderOffered
    | RecipientOffered
    | CommandNotUnderstood
    | TransactionReset
    | MessageOffered
    | DiscardAsked
    | ResubmitRequested
    | ResubmitListAsked
    | ResubmitChangeAsked
    | RedirectRequested
    | MoveRequested
    | QueuesAsked
    | ActiveCopyNamed
    | LogAnnounced
    | SeedAnnounced
    | SeedAsked
    | MailboxAnnounced
    | CopyStatusAsked
    | MountAsked
    | DismountAsked
    | CorruptionRequested
    | FailoverRequested
    | SwitchoverRequested
    | LaggedCopyRequested
    | SessionActive
    | ConnectionLost
    | SessionOpened
    | SessionFailed
    | PassedCommandAnswered
    | TransmissionActive
    | TransmissionAnswered
    | DiscardAnswered
    | DiscardRefused
    | ResubmitAnswered
    | ResubmitRefused
    | CopyStatusAnswered
    | MountAnswered
    | DismountAnswered
    | SeedPromised
    | ActiveCopyAnswered
    | CopyCommandRefused
    | SessionLost
    | DeadlineReached
    | StopRequested
)
