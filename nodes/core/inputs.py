"""Everything that can happen to a node. Past facts, plain values, written down as they come: they
are the replay.

Three families: what the disk says, what inbound sessions (this server was called) say, what
outbound sessions (this server calls) say. `session` is a string that the caller chose for inbound
sessions and that the core chose for outbound ones (`out-<n>`). At any time one command of an
inbound session awaits its `SendReply`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.database_copy import CopyStanding, CopyStatus, ReplicationLog
from nodes.core.failover import Asking, Failover, ManagedDatabase, Telling
from nodes.core.message import (
    ActiveCopy,
    BodyHandle,
    Contact,
    DiscardNotification,
    Envelope,
    Header,
    PrimaryMessage,
    ShadowMessage,
)
from nodes.core.resubmit_request import (
    KeptCopy,
    ResubmitDemand,
    ResubmitRequest,
    ResubmitState,
)
from nodes.core.resubmit_states import ResubmitMove

# ------------------------------------------------------------------ the disk


@dataclass(frozen=True, slots=True)
class DatabaseOpened:
    """First input of a node's life: its queue database, without bodies and without Safety Nets.

    `created` says that the file is new; `starts` counts how often it was opened, this time
    included, and is durable before this input. `last_discard_sequence` is the highest ever used in
    this database. `next_safety_net_expiry_ms` is the earliest expiry of a copy, None without any.
    `created_ms` is when the database was made: its Safety Nets hold nothing from before (SN-9).
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
class Committed:
    """The changes of `Commit(commit, …)` are durable, all of them."""

    commit: int


@dataclass(frozen=True, slots=True)
class CommitFailed:
    """None of the changes of `Commit(commit, …)` happened."""

    commit: int
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
    (`OpenCopy`) or keeps in addition.
    """

    change: int
    standing: CopyStanding
    logs: tuple[ReplicationLog, ...] = ()


@dataclass(frozen=True, slots=True)
class CopyNotChanged:
    """Nothing of it happened."""

    change: int
    reason: str


# ------------------------------------------------------------------ inbound sessions


@dataclass(frozen=True, slots=True)
class SessionAccepted:
    session: str
    client_address: str


@dataclass(frozen=True, slots=True)
class PeerAuthenticated:
    """TLS named the client: a server of this organisation (TL-6)."""

    session: str
    peer: str


@dataclass(frozen=True, slots=True)
class ShadowRequested:
    """XSHADOWREQUEST: the next message is a shadow message. Answered by `SendReply`."""

    session: str
    primary: str
    database_id: str
    internal_id: int
    network_message_id: str
    resubmit_request: str | None = None


@dataclass(frozen=True, slots=True)
class DeliveryRequested:
    """XDELIVER: the next message goes straight into the active copy of `database`. Answered by
    `SendReply`.
    """

    session: str
    database: str
    network_message_id: str


@dataclass(frozen=True, slots=True)
class RecipientOffered:
    """RCPT TO. Answered by `SendReply`."""

    session: str
    address: str


@dataclass(frozen=True, slots=True)
class TransactionReset:
    """RSET or EHLO: what XSHADOWREQUEST or XDELIVER announced is void. Not answered by the core.

    A MAIL that follows the announcement is no reset.
    """

    session: str


@dataclass(frozen=True, slots=True)
class MessageOffered:
    """The final dot has come. Answered by `SendReply`, unless `ConnectionLost` comes first.
    `size_bytes` of the body.
    """

    session: str
    envelope: Envelope
    header: Header
    size_bytes: int
    body: BodyHandle


@dataclass(frozen=True, slots=True)
class DiscardAsked:
    """XQDISCARD. `known_database_id` is empty where the asking server knows none. Answered by
    `SendReply`.
    """

    session: str
    asking_server: str
    known_database_id: str
    confirmed_sequence: int


@dataclass(frozen=True, slots=True)
class ResubmitRequested:
    """XRESUBMIT ADD: resubmit from a Safety Net of this server. A request that is known by its id
    is asked after. Answered by `SendReply`.
    """

    session: str
    demand: ResubmitDemand


@dataclass(frozen=True, slots=True)
class ResubmitListAsked:
    """XRESUBMIT LIST. Answered by `SendReply`."""

    session: str


@dataclass(frozen=True, slots=True)
class ResubmitChangeAsked:
    """XRESUBMIT ENABLE, DISABLE or REMOVE (`move` None). Answered by `SendReply`."""

    session: str
    request_id: str
    move: ResubmitMove | None


@dataclass(frozen=True, slots=True)
class ActiveCopyNamed:
    """XACTIVE: the copy of `database` on `server` is active. Answered by `SendReply`."""

    session: str
    database: str
    server: str
    epoch: int


@dataclass(frozen=True, slots=True)
class LogAnnounced:
    """XLOG: the next message is a log of the copy that is active under `epoch`. Answered by
    `SendReply`.
    """

    session: str
    epoch: int
    log: ReplicationLog


@dataclass(frozen=True, slots=True)
class SeedAnnounced:
    """XSEED: the next message is everything that the copy active under `epoch` has. Answered by
    `SendReply`.
    """

    session: str
    database: str
    epoch: int


@dataclass(frozen=True, slots=True)
class CopyStatusAsked:
    """XCOPYSTATUS. Answered by `SendReply`."""

    session: str
    database: str


@dataclass(frozen=True, slots=True)
class MountAsked:
    """XMOUNT: the copy here is to be active under `epoch`. Answered by `SendReply`."""

    session: str
    database: str
    epoch: int


@dataclass(frozen=True, slots=True)
class DismountAsked:
    """XDISMOUNT: the copy here, active under `epoch`, is to take no delivery any more. Answered by
    `SendReply`.
    """

    session: str
    database: str
    epoch: int


@dataclass(frozen=True, slots=True)
class FailoverRequested:
    """XFAILOVER, to Active Manager: another copy is to be active, on `server` or on the best one.
    Answered by `SendReply`.
    """

    session: str
    database: str
    server: str | None


@dataclass(frozen=True, slots=True)
class SwitchoverRequested:
    """XSWITCHOVER, to Active Manager: the copy on `server` is to be active, with nothing lost.
    Answered by `SendReply`.
    """

    session: str
    database: str
    server: str


@dataclass(frozen=True, slots=True)
class SessionActive:
    """The client sent bytes. Reported at most once in a twentieth of ConnectionInactivityTimeout
    (SR-6).
    """

    session: str


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """An inbound session is over, by QUIT, reset, EOF or after `CloseSession`. Nothing more comes
    of it.
    """

    session: str


# ------------------------------------------------------------------ outbound sessions


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """`OpenSession` succeeded: banner, EHLO and, towards servers of the organisation, mutual TLS
    are done.
    """

    session: str
    offers_shadow: bool


@dataclass(frozen=True, slots=True)
class SessionFailed:
    """`OpenSession` did not succeed; the session does not exist."""

    session: str
    reason: str


@dataclass(frozen=True, slots=True)
class TransmissionAnswered:
    """Final answer to `Transmit`. Any code; `refused` names single recipients with code and
    text.
    """

    session: str
    code: int
    text: str
    refused: tuple[tuple[str, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DiscardAnswered:
    """Final reply to this server's XQDISCARD: (sequence, primary's internal id, delivered epoch ms)
    in order.
    """

    session: str
    database_id: str
    notifications: tuple[tuple[int, int, int], ...]
    more: bool


@dataclass(frozen=True, slots=True)
class DiscardRefused:
    session: str
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class ResubmitAnswered:
    """The peer has taken the request on, durably; `state` is how far it is."""

    session: str
    state: ResubmitState
    resubmitted: int


@dataclass(frozen=True, slots=True)
class ResubmitRefused:
    session: str
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class CopyStatusAnswered:
    """Where the peer's copy stands."""

    session: str
    status: CopyStatus


@dataclass(frozen=True, slots=True)
class MountAnswered:
    """The peer's copy is mounted, since `mounted_ms`; before it had this log as its last."""

    session: str
    mounted_ms: int
    last_log: int
    last_log_ms: int


@dataclass(frozen=True, slots=True)
class DismountAnswered:
    """The peer's copy takes no delivery any more; its last log."""

    session: str
    last_log: int
    last_log_ms: int


@dataclass(frozen=True, slots=True)
class ActiveCopyAnswered:
    """The peer brings nothing to the copy before from `learnt_ms` on, by its own clock."""

    session: str
    learnt_ms: int


@dataclass(frozen=True, slots=True)
class CopyCommandRefused:
    session: str
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class SessionLost:
    """An open outbound session broke, whatever it was doing. Also the end of one that was hung
    up.
    """

    session: str
    reason: str


# ------------------------------------------------------------------ the host


@dataclass(frozen=True, slots=True)
class DeadlineReached:
    """`next_deadline_ms()` has come."""


@dataclass(frozen=True, slots=True)
class StopRequested:
    """The host will stop this node; take no new work, finish nothing by force."""


Input: TypeAlias = (
    DatabaseOpened
    | ManagerOpened
    | DatabaseSetAside
    | Committed
    | CommitFailed
    | MailboxesDelivered
    | MailboxDeliveryFailed
    | SafetyNetExpired
    | SafetyNetRead
    | SafetyNetNotRead
    | CopyChanged
    | CopyNotChanged
    | SessionAccepted
    | PeerAuthenticated
    | ShadowRequested
    | DeliveryRequested
    | RecipientOffered
    | TransactionReset
    | MessageOffered
    | DiscardAsked
    | ResubmitRequested
    | ResubmitListAsked
    | ResubmitChangeAsked
    | ActiveCopyNamed
    | LogAnnounced
    | SeedAnnounced
    | CopyStatusAsked
    | MountAsked
    | DismountAsked
    | FailoverRequested
    | SwitchoverRequested
    | SessionActive
    | ConnectionLost
    | SessionOpened
    | SessionFailed
    | TransmissionAnswered
    | DiscardAnswered
    | DiscardRefused
    | ResubmitAnswered
    | ResubmitRefused
    | CopyStatusAnswered
    | MountAnswered
    | DismountAnswered
    | ActiveCopyAnswered
    | CopyCommandRefused
    | SessionLost
    | DeadlineReached
    | StopRequested
)
