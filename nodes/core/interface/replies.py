"""What a server answers. What says a thing of its own is a type of its own, and `nodes.shell.verbs`
has its words; all others are constants by name, each name starting with its code (TL-5, F§2.3). The
texts are part of the contract.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from nodes.core.model.database_copy import CopyStatus
from nodes.core.model.resubmit_request import ResubmitRequest, ResubmitState


@dataclass(frozen=True, slots=True)
class Reply:
    """One SMTP reply in words; several lines make a multi-line reply (RFC 5321 section 4.2.1)."""

    code: int
    lines: tuple[str, ...]


def _reply(code: int, text: str) -> Reply:
    return Reply(code, (text,))


R250_RECIPIENT_OK = _reply(250, "2.1.5 Recipient OK")
R250_SHADOW_NEXT = _reply(250, "2.0.0 Shadow message may follow")
R250_DELIVERY_NEXT = _reply(250, "2.0.0 Delivery may follow")
R250_FORK_NEXT = _reply(250, "2.0.0 Message may follow")
R250_OUTBOX_NEXT = _reply(250, "2.0.0 Outbox item may follow")
R421_CONNECTION_TIMEOUT = _reply(421, "4.4.1 Connection timed out")
R421_INACTIVITY_TIMEOUT = _reply(421, "4.4.2 Timeout waiting for client input")
R421_TOO_MANY_CONNECTIONS = _reply(
    421,
    "4.3.2 The maximum number of concurrent server connections has exceeded a limit, closing "
    "transmission channel",
)
R421_TOO_MANY_OF_SOURCE = _reply(
    421,
    "4.3.2 The maximum number of concurrent server connections has exceeded a per-source limit, "
    "closing transmission channel",
)
R421_MESSAGE_RATE = _reply(
    421, "4.4.2 Message submission rate for this client has exceeded the configured limit"
)
R421_CONNECTION_RATE = _reply(421, "4.3.2 Service not available")
R421_INACTIVE = _reply(421, "4.3.2 System not accepting network messages")
R421_STOPPING = _reply(421, "4.3.2 Service not active")
R432_NOT_ACTIVE_HERE = _reply(
    432, "4.2.0 STOREDRIVER; mailbox database is not active on this server"
)
R432_MAILBOX_MOVED = _reply(432, "4.2.0 STOREDRIVER; mailbox is not in this mailbox database now")
R451_NOT_COMMITTED = _reply(451, "4.3.0 Message could not be stored")
R451_NOT_REDUNDANT = _reply(451, "4.4.0 Message failed to be made redundant")
R451_NO_SERVER = _reply(451, "4.7.0 Temporary server error. Please try again later. PRX1")
R451_SERVER_LOST = _reply(451, "4.7.0 Temporary server error. Please try again later. PRX2")
R421_TOO_MANY_ERRORS = _reply(
    421, "4.7.0 Too many errors on this connection, closing transmission channel"
)
R452_TOO_MANY_RECIPIENTS = _reply(452, "4.5.3 Too many recipients")
R452_BACK_PRESSURE = _reply(452, "4.3.1 Insufficient system resources")
R454_LOGON_DENIED = _reply(454, "4.7.0 Temporary authentication failure")
R502_NOT_IMPLEMENTED = _reply(502, "5.3.3 Command not implemented")
R502_SHADOW_DISABLED = R502_NOT_IMPLEMENTED
R503_BAD_SEQUENCE = _reply(503, "5.5.1 Bad sequence of commands")
R550_NOT_ALLOWED = _reply(550, "5.7.1 Not authorized")
R550_NOT_THE_SENDERS = _reply(550, "5.7.60 Client does not have permissions to send as this sender")
R550_NO_SUCH_RECIPIENT = _reply(550, "5.1.10 RESOLVER.ADR.RecipientNotFound; recipient not found")
R552_MESSAGE_TOO_LARGE = _reply(552, "5.3.4 Message size exceeds fixed maximum message size")
R552_HEADER_TOO_LARGE = _reply(552, "5.3.4 Header size exceeds fixed maximum size")
R554_TOO_MANY_HOPS = _reply(554, "5.4.6 Hop count exceeded - possible mail loop")
R554_TOO_MANY_LOCAL_HOPS = R554_TOO_MANY_HOPS


R501_NO_INTERVAL = _reply(501, "5.5.4 Start must come before end")
R503_NOT_IN_THIS_STATE = _reply(503, "5.5.1 Resubmit request is not in a state for this")
R550_NO_SUCH_DATABASE = _reply(550, "5.4.4 No such mailbox database")
R550_NO_SUCH_REQUEST = _reply(550, "5.5.4 No such resubmit request")
R554_OTHER_REQUEST = _reply(554, "5.5.4 Another resubmit request has this id")
R250_REQUEST_CHANGED = _reply(250, "2.0.0 Resubmit request changed")
R451_REQUEST_NOT_STORED = _reply(451, "4.3.0 Resubmit request could not be stored")


R250_LOG_NEXT = _reply(250, "2.0.0 Log may follow")
R250_SEED_NEXT = _reply(250, "2.0.0 Seed may follow")
R451_COPY_BUSY = _reply(451, "4.3.2 Copy of the mailbox database is being changed")
R451_COPY_NOT_CHANGED = _reply(451, "4.3.0 Copy of the mailbox database could not be changed")
R451_COPY_FAILED = _reply(451, "4.3.0 Copy of the mailbox database has failed")
R451_COPY_SEEDING = _reply(451, "4.3.2 Copy of the mailbox database is being seeded")


R451_FAILOVER_UNDER_WAY = _reply(451, "4.3.2 Another failover of the database is under way")
R451_FAILOVER_NOT_STORED = _reply(451, "4.3.0 Failover could not be stored")
R451_NO_COPY = _reply(451, "4.3.1 No copy of the mailbox database can be mounted")
R503_ACTIVE_ALREADY = _reply(503, "5.5.1 Copy of the mailbox database is active already")
R550_NO_SUCH_COPY = _reply(550, "5.4.4 No copy of the mailbox database on that server")
R503_NOT_ACTIVE = _reply(503, "5.5.1 Copy of the mailbox database is not active")
R550_LAGGED_COPY = _reply(550, "5.5.1 Copy of the mailbox database is lagged")
R550_NOT_LAGGED = _reply(550, "5.5.1 Copy of the mailbox database is not lagged")
R550_REPLAYED_ALREADY = _reply(550, "5.5.4 Copy of the mailbox database has replayed later logs")


R250_REDIRECTING = _reply(250, "2.0.0 Messages are redirected")
R451_REDIRECTING = _reply(451, "4.3.2 Service not active")
R503_REDIRECTING_ALREADY = _reply(503, "5.5.1 Messages are redirected already")
R550_NO_SUCH_SERVER = _reply(550, "5.4.4 No other mailbox server has this name")


R250_MAILBOX_NEXT = _reply(250, "2.0.0 Mailbox may follow")
R250_MAILBOX_MOVED = _reply(250, "2.6.0 Mailbox is in the mailbox database")
R451_MAILBOX_NOT_MOVED = _reply(451, "4.3.0 Mailbox could not be moved")
R503_NOT_MOVING = _reply(503, "5.5.1 Mailbox is not on its way to that mailbox database")


R451_COPY_NOT_STORED = _reply(451, "4.3.0 Active copy could not be stored")
R554_LATER_COPY_KNOWN = _reply(554, "5.5.4 Another active copy is known")


MESSAGE_ID_SHOWN = 255


def r250_queued_for_delivery(message_id: str, internal_id: int, hostname: str) -> Reply:
    return _reply(
        250, f"2.6.0 {_named(message_id, internal_id, hostname)} Queued mail for delivery"
    )


def r250_queued_for_redundancy(message_id: str, internal_id: int, hostname: str) -> Reply:
    named = _named(message_id, internal_id, hostname)
    return _reply(250, f"2.6.0 {named} Queued mail for redundancy")


def r250_in_outbox(message_id: str, item_id: str, hostname: str) -> Reply:
    """To a client: its item is durable in the Outbox."""
    named = f"{as_shown(message_id)} [ItemId={item_id}, Hostname={hostname}]"
    return _reply(250, f"2.6.0 {named} Queued in Outbox")


def _named(message_id: str, internal_id: int, hostname: str) -> str:
    return f"{as_shown(message_id)} [InternalId={internal_id}, Hostname={hostname}]"


def as_shown(message_id: str) -> str:
    """In a reply, which has 512 octets at most (RFC 5321 section 4.5.3.1.5): of a long Message-Id
    both ends.
    """
    if len(message_id) <= MESSAGE_ID_SHOWN:
        return message_id
    half = MESSAGE_ID_SHOWN // 2
    return f"{message_id[:half]}...{message_id[-half:]}"


@dataclass(frozen=True, slots=True)
class LogReplayed:
    """To a log: it is durable here."""

    code: ClassVar[int] = 250
    number: int


@dataclass(frozen=True, slots=True)
class Seeded:
    """To a seed: it is durable here."""

    code: ClassVar[int] = 250
    last_log: int


@dataclass(frozen=True, slots=True)
class LogExpected:
    """To a log that does not follow the last one here, which was made under `after_epoch`."""

    code: ClassVar[int] = 503
    number: int
    after_epoch: int


@dataclass(frozen=True, slots=True)
class ActiveUnder:
    """To whoever acts under an epoch that is over."""

    code: ClassVar[int] = 554
    epoch: int


LogReply: TypeAlias = LogReplayed | Seeded | LogExpected | ActiveUnder


@dataclass(frozen=True, slots=True)
class CopyStatusReply:
    """To XCOPYSTATUS."""

    code: ClassVar[int] = 250
    status: CopyStatus


@dataclass(frozen=True, slots=True)
class MountReply:
    """To XMOUNT: when it was mounted under this epoch, and its last log before."""

    code: ClassVar[int] = 250
    mounted_ms: int
    last_log: int
    last_log_ms: int
    last_log_epoch: int


@dataclass(frozen=True, slots=True)
class DismountReply:
    """To XDISMOUNT."""

    code: ClassVar[int] = 250
    last_log: int
    last_log_ms: int


@dataclass(frozen=True, slots=True)
class CorruptionReply:
    """To XCORRUPT: the log by which it was done."""

    code: ClassVar[int] = 250
    last_log: int
    last_log_ms: int


@dataclass(frozen=True, slots=True)
class SeedingReply:
    """To XUPDATECOPY: a seed comes, with everything up to this log at least."""

    code: ClassVar[int] = 250
    last_log: int


@dataclass(frozen=True, slots=True)
class ActiveCopyReply:
    """To XACTIVE: from `learnt_ms` on nothing was delivered to the copy before."""

    code: ClassVar[int] = 250
    learnt_ms: int


@dataclass(frozen=True, slots=True)
class FailoverReply:
    """To XFAILOVER and XSWITCHOVER: durable, and under way."""

    code: ClassVar[int] = 250
    epoch: int
    server: str


CopyReply: TypeAlias = (
    CopyStatusReply
    | MountReply
    | DismountReply
    | CorruptionReply
    | SeedingReply
    | ActiveCopyReply
    | FailoverReply
)


@dataclass(frozen=True, slots=True)
class QueueShown:
    """One queue: `name` is its next hop, or the server that it is for; `next_retry_ms` epoch ms;
    `asked_ago_ms`: how long ago whoever holds the shadow messages asked, None where it has not.
    """

    kind: str
    name: str
    length: int
    next_retry_ms: int | None = None
    last_error: str = ""
    asked_ago_ms: int | None = None


@dataclass(frozen=True, slots=True)
class QueuesReply:
    """To XQUEUES; `figures` are counters and levels by name."""

    code: ClassVar[int] = 250
    queues: tuple[QueueShown, ...]
    figures: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ResubmitReply:
    """To XRESUBMIT ADD: how far the request is."""

    code: ClassVar[int] = 250
    state: ResubmitState
    resubmitted: int


@dataclass(frozen=True, slots=True)
class ResubmitListReply:
    """To XRESUBMIT LIST (SN-16)."""

    code: ClassVar[int] = 250
    requests: tuple[ResubmitRequest, ...]


@dataclass(frozen=True, slots=True)
class DiscardReply:
    """To XQDISCARD: sequence, internal id, delivered and first fork delivered in epoch ms, each."""

    code: ClassVar[int] = 250
    database_id: str
    notifications: tuple[tuple[int, int, int, int], ...]
    more: bool


AnyReply: TypeAlias = (
    Reply | LogReply | CopyReply | ResubmitReply | ResubmitListReply | DiscardReply | QueuesReply
)
