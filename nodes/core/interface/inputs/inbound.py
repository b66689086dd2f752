"""What inbound sessions say: this server was called. One command of a session at a time awaits its
`SendReply`."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.model.database_copy import ReplicationLog
from nodes.core.model.message import BodyHandle, Envelope, Header
from nodes.core.model.resubmit_request import ResubmitDemand
from nodes.core.model.resubmit_states import ResubmitMove


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
class ForkAnnounced:
    """XNETWORKMESSAGEID: the next message is a fork of one that has a network message id already.
    Answered by `SendReply`.
    """

    session: str
    network_message_id: str


@dataclass(frozen=True, slots=True)
class SenderOffered:
    """MAIL FROM, at a front end; any other server answers it without its core. `address` is empty
    for the null reverse-path. Answered by `SendReply`.
    """

    session: str
    address: str


@dataclass(frozen=True, slots=True)
class RecipientOffered:
    """RCPT TO. Answered by `SendReply`. `taken`: how many recipients its message has already."""

    session: str
    address: str
    taken: int = 0


@dataclass(frozen=True, slots=True)
class CommandNotUnderstood:
    """Something that is no command, and was answered 500. Not answered by the core."""

    session: str


@dataclass(frozen=True, slots=True)
class TransactionReset:
    """RSET or EHLO: what a verb announced is void. Not answered by the core.

    A MAIL that follows the announcement is no reset.
    """

    session: str


@dataclass(frozen=True, slots=True)
class MessageOffered:
    """The final dot has come. Answered by `SendReply`, unless `ConnectionLost` comes first.
    `size_bytes` of the body; `hops` is how many `Received:` fields its header has, `local_hops` how
    many of them a server of the organisation has put there.
    """

    session: str
    envelope: Envelope
    header: Header
    size_bytes: int
    body: BodyHandle
    hops: int = 0
    local_hops: int = 0


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
class QueuesAsked:
    """XQUEUES: what do the queues hold? Awaits a reply (TL-9)."""

    session: str


@dataclass(frozen=True, slots=True)
class OutboxRequested:
    """XOUTBOX: the client submits a message from a mailbox of `database`; it follows. Answered by
    `SendReply`.
    """

    session: str
    database: str


@dataclass(frozen=True, slots=True)
class RedirectRequested:
    """XREDIRECT: move what is in the delivery queues to `server`. Answered by `SendReply`."""

    session: str
    server: str


@dataclass(frozen=True, slots=True)
class MoveRequested:
    """XMOVE: the mailbox of `address`, which is on its way there, goes to `database`. Answered by
    `SendReply` when all that it shows is there.
    """

    session: str
    address: str
    database: str


@dataclass(frozen=True, slots=True)
class MailboxAnnounced:
    """XMAILBOX: the next message is everything in the mailbox of `address`, which moves into
    `database`. Answered by `SendReply`.
    """

    session: str
    database: str
    address: str


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
    """XMOUNT: the copy here is to be active under `epoch`, with what it keeps of before
    `before_ms`. Answered by `SendReply`.
    """

    session: str
    database: str
    epoch: int
    before_ms: int | None = None


@dataclass(frozen=True, slots=True)
class DismountAsked:
    """XDISMOUNT: the copy here, active under `epoch`, is to take no delivery any more. Answered by
    `SendReply`.
    """

    session: str
    database: str
    epoch: int


@dataclass(frozen=True, slots=True)
class SeedAsked:
    """XUPDATECOPY: the copy of a server that came anew lacks everything (TP-8). Answered by
    `SendReply`.
    """

    session: str
    database: str


@dataclass(frozen=True, slots=True)
class CorruptionRequested:
    """XCORRUPT: the mailboxes of the active copy here lose what they show, as by a faulty client.
    Answered by `SendReply`.
    """

    session: str
    database: str


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
class LaggedCopyRequested:
    """XACTIVATELAGGED, to Active Manager: the lagged copy on `server` is to be active, as it stands
    or as the database was at `before_ms`. Answered by `SendReply`.
    """

    session: str
    database: str
    server: str
    before_ms: int | None


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
