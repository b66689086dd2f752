"""Everything that a node can ask of its host. Imperatives, in the order in which they are to be
carried out.

The host carries effects out in order but does not wait between them: `Commit`, `OpenSession`,
`Transmit`, `PassCommand`, `PassMessage`, `AskDiscard`, `RequestResubmit`, `ManageCopy`,
`DeliverToMailboxes`, `ChangeCopy`, `ExpireSafetyNet` and `ReadSafetyNet` are answered by an input
later.
Log effects that follow an input are written before any reply that follows them (TL-2: HAREDIRECT
before the 250).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from nodes.core.interface.copy_changes import CopyChange
from nodes.core.interface.copy_commands import CopyCommand
from nodes.core.interface.manager_changes import ManagerChange
from nodes.core.interface.queue_changes import Change
from nodes.core.interface.replies import AnyReply, Reply
from nodes.core.model.database_copy import ReplicationLog
from nodes.core.model.message import BodyHandle, Envelope, Header
from nodes.core.model.resubmit_request import Position, ResubmitDemand, SafetyNetSource


@dataclass(frozen=True, slots=True)
class Commit:
    """One atomic, durable transaction. Answered by `Committed(commit)` or `CommitFailed(commit,
    …)`, in commit order.
    """

    commit: int
    changes: tuple[Change | ManagerChange, ...]


@dataclass(frozen=True, slots=True)
class ExpireSafetyNet:
    """Remove from both Safety Nets, and from the shadow queue (SN-2), what expires at or before
    `now_ms`.

    Answered by `SafetyNetExpired`.
    """

    now_ms: int


@dataclass(frozen=True, slots=True)
class ReadSafetyNet:
    """The next copies of a Safety Net in order of delivery: after `after`, delivered before
    `end_ms`, at most `most`.

    Sees everything that was committed before it and nothing that comes later. Answered by
    `SafetyNetRead` or `SafetyNetNotRead`.
    """

    read: int
    source: SafetyNetSource
    after: Position
    end_ms: int
    most: int


@dataclass(frozen=True, slots=True)
class MeasureConverted:
    """How many bytes would each body have, once it is converted? They are converted as they are
    stored. Answered by `ConvertedMeasured` or `ConvertedNotMeasured`.
    """

    measuring: int
    encoder: str
    bodies: tuple[BodyHandle, ...]


@dataclass(frozen=True, slots=True)
class DeliverToMailboxes:
    """Store a message once in each recipient's mailbox of `database`, one transaction, duplicates
    turfed (DD-1).

    The key is (mailbox, `header.message_id`, `header.submitted_ms`); rows older than `window_ms`
    before `now_ms` count as gone (DD-2). Answered by `MailboxesDelivered` or
    `MailboxDeliveryFailed`.
    """

    delivery: int
    database: str
    header: Header
    sender: str
    recipients: tuple[str, ...]
    size_bytes: int
    body: BodyHandle
    now_ms: int
    window_ms: int


@dataclass(frozen=True, slots=True)
class ChangeCopy:
    """One durable change of this server's copy of a mailbox database, in order with the deliveries
    into it. Answered by `CopyChanged` or `CopyNotChanged`.
    """

    change: int
    database: str
    what: CopyChange


@dataclass(frozen=True, slots=True)
class MeasureDisk:
    """How much of the volume of the queue database is in use? `DiskMeasured` follows."""


@dataclass(frozen=True, slots=True)
class CountCopies:
    """How many copies are in each Safety Net? `CopiesCounted` follows, for that session."""

    session: str


@dataclass(frozen=True, slots=True)
class CleanUpDeliveredTo:
    """Remove from DeliveredTo of this server's copy what was delivered before `before_ms`, at most
    `most` rows, in order with the deliveries (DD-5). Answered by `DeliveredToCleanedUp`.
    """

    database: str
    before_ms: int
    most: int


@dataclass(frozen=True, slots=True)
class DropBody:
    """Forget an `in:` body that was not committed."""

    body: BodyHandle


@dataclass(frozen=True, slots=True)
class SendReply:
    """Answer the command that the inbound session waits with."""

    session: str
    reply: AnyReply


@dataclass(frozen=True, slots=True)
class CloseSession:
    """Close an inbound session now; `reply`, if any, is sent first (a 421)."""

    session: str
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Open an outbound session to the server named `peer`. `purpose` is for the connectivity log.

    `purpose`: `shadowredundancy` (a shadow message), `delivery`, `heartbeat`, `safetynet`,
    `replication`, `management`, `inboundproxy` (of a front end). `service` says over which
    link: smtp, replication, management.
    """

    session: str
    peer: str
    purpose: str
    service: str = "smtp"


@dataclass(frozen=True, slots=True)
class ShadowRequest:
    """Prologue of a shadow message: XSHADOWREQUEST."""

    primary: str
    database_id: str
    internal_id: int
    network_message_id: str
    resubmit_request: str | None = None


@dataclass(frozen=True, slots=True)
class DeliverTo:
    """Prologue of a delivery into a mailbox database: XDELIVER."""

    database: str
    network_message_id: str


@dataclass(frozen=True, slots=True)
class ForkOf:
    """Prologue of a fork that goes on to another server of the organisation: XNETWORKMESSAGEID
    (TL-3).
    """

    network_message_id: str


@dataclass(frozen=True, slots=True)
class ShipLog:
    """Prologue of a log of a mailbox database: XLOG. `epoch`: under which the copy here is
    active.
    """

    epoch: int
    log: ReplicationLog


@dataclass(frozen=True, slots=True)
class ShipSeed:
    """Prologue of everything in a mailbox database: XSEED."""

    epoch: int
    database: str


@dataclass(frozen=True, slots=True)
class ShipMailbox:
    """Prologue of everything in a mailbox that moves into `database`: XMAILBOX."""

    database: str
    address: str


Prologue: TypeAlias = ShadowRequest | DeliverTo | ForkOf | ShipLog | ShipSeed | ShipMailbox


@dataclass(frozen=True, slots=True)
class Transmit:
    """Send one message on an open session: prologue if any, MAIL, RCPT for each, DATA. RSET first
    after a refusal.
    """

    session: str
    prologue: Prologue | None
    envelope: Envelope
    body: BodyHandle


@dataclass(frozen=True, slots=True)
class MailFrom:
    """MAIL FROM. `address` is empty for the null reverse-path."""

    address: str


@dataclass(frozen=True, slots=True)
class RecipientTo:
    """RCPT TO."""

    address: str


PassedCommand: TypeAlias = MailFrom | RecipientTo


@dataclass(frozen=True, slots=True)
class PassCommand:
    """Say on an open session what a client has said to this front end. Answered by
    `PassedCommandAnswered`.
    """

    session: str
    command: PassedCommand


@dataclass(frozen=True, slots=True)
class PassMessage:
    """DATA on an open session, for sender and recipients of `envelope`, which have been passed.
    Answered by `TransmissionAnswered`.
    """

    session: str
    envelope: Envelope
    body: BodyHandle


@dataclass(frozen=True, slots=True)
class AskDiscard:
    """XQDISCARD on an open session. `known_database_id` is empty where none is known."""

    session: str
    known_database_id: str
    confirmed_sequence: int


@dataclass(frozen=True, slots=True)
class RequestResubmit:
    """XRESUBMIT on an open session: ask the peer's Safety Net."""

    session: str
    demand: ResubmitDemand


@dataclass(frozen=True, slots=True)
class ManageCopy:
    """XCOPYSTATUS, XMOUNT, XDISMOUNT or XACTIVE on an open session."""

    session: str
    command: CopyCommand


@dataclass(frozen=True, slots=True)
class HangUp:
    """End an outbound session: QUIT where it is idle, else just close. `SessionLost` need not
    follow.
    """

    session: str


@dataclass(frozen=True, slots=True)
class LogTracking:
    """One row of the message tracking log (TL-1, F§1). Field names are Exchange's; `custom` becomes
    custom-data, where a number is a time by the core's own clock, epoch ms.

    The shell fills date-time, server addresses, message-info, directionality, log-id,
    schema-version and the `S:Mono` stamp. `server` is the other server's name where the event has
    one, else the node's own. A row about an item of an Outbox has no internal id (0) and no network
    message id: these are Transport's.
    """

    event: str
    source: str
    internal_id: int
    network_message_id: str
    header: Header
    envelope: Envelope
    size_bytes: int
    recipients: tuple[str, ...]
    source_context: str = ""
    server: str = ""
    client_address: str = ""
    recipient_status: str = ""
    reference: str = ""
    custom: tuple[tuple[str, str | int], ...] = ()
    related_recipient: str = ""


@dataclass(frozen=True, slots=True)
class LogConnectivity:
    """One row of the connectivity log (F§2.4). `direction` is `+`, `-` or `>`; `asked_ms`: of a row
    about a question, when it was asked, epoch ms.
    """

    session: str
    destination: str
    direction: str
    description: str
    asked_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LogLifecycle:
    """One line of the lifecycle log (TL-4), of JSON. The shell adds at_ms, date and mono_ns."""

    event: str
    fields: tuple[tuple[str, Any], ...] = ()


Effect: TypeAlias = (
    Commit
    | ExpireSafetyNet
    | ReadSafetyNet
    | MeasureConverted
    | DeliverToMailboxes
    | ChangeCopy
    | MeasureDisk
    | CountCopies
    | CleanUpDeliveredTo
    | DropBody
    | SendReply
    | CloseSession
    | OpenSession
    | Transmit
    | PassCommand
    | PassMessage
    | AskDiscard
    | RequestResubmit
    | ManageCopy
    | HangUp
    | LogTracking
    | LogConnectivity
    | LogLifecycle
)
