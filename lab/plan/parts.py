"""The other parts of a plan: plain frozen values with the field names of plan.json.

`…_ms` is lab milliseconds since the start of lab time; timespans among the settings are
milliseconds too. Nothing here computes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lab.plan.software import NODES, Software
from lab.program.json_record import LEFT_OUT_IF_EMPTY
from nodes.core.config.parameters import Value

Section: TypeAlias = Mapping[str, Value]
Cause = Literal["database-id-changed", "resubmit-time-span"]
Verdict = Literal["pass", "fail", "unknown"]
SafetyNet = Literal["primary-safety-net", "shadow-safety-net"]
StrangerKind = Literal[
    "no-certificate",
    "foreign-certificate",
    "other-server",
    "trickles",
    "bare-line-ends",
    "too-large",
    "too-many-hops",
    "too-many-local-hops",
    "too-many-recipients",
    "unknown-recipients",
    "no-commands",
]


@dataclass(frozen=True, slots=True)
class Clock:
    """The lab clock: the date of t = 0 and lab seconds per second of wall clock."""

    origin: str
    speed: float


@dataclass(frozen=True, slots=True)
class Settings:
    """Every parameter with its value: the organisation's, and server -> section -> name; and what
    the software of the servers fixes beside them.
    """

    TransportConfig: Section
    servers: Mapping[str, Mapping[str, Section]]
    software: Software = NODES


INTERNAL = "internal"
MailKind = Literal["inbound", "outbound", "relay", "internal"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the workload; its Date is the origin plus `at_ms`. Internal mail goes into the
    Outbox of its sender's mailbox, and `via` has the servers with copies of its database.
    """

    message_id: str
    at_ms: int
    mail: MailKind
    sender: str
    recipients: tuple[str, ...]
    via: tuple[str, ...]
    size_bytes: int
    retry_ms: int


@dataclass(frozen=True, slots=True)
class Trickle:
    """A message of which a byte comes every `every_ms`, for `for_ms` at the most; where both are 0,
    all of it at once.
    """

    sender: str
    recipient: str
    every_ms: int
    for_ms: int


@dataclass(frozen=True, slots=True)
class TooMuch:
    """What a message has that is said at once: a Received field by each of those names, and so many
    octets, or more where its header needs more.
    """

    received_by: tuple[str, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Stranger:
    """A client that has no right to what it asks of `server`, which it calls at `at_ms`.

    `certificate` names the server whose certificate it shows. It says `commands` one after the
    other, and then sends what trickles, or a message at once, if it has any; `too_much` says what
    of, where that is not its line ends.
    """

    id: str
    kind: StrangerKind
    at_ms: int
    server: str
    certificate: str | None
    commands: tuple[str, ...]
    trickle: Trickle | None
    too_much: TooMuch | None = field(default=None, metadata=LEFT_OUT_IF_EMPTY)


@dataclass(frozen=True, slots=True)
class ExpectedPromotion:
    """Promotions of a primary's messages: not before `after_ms`, by `after_ms + within_ms`."""

    of: str
    cause: Cause
    after_ms: int
    within_ms: int


@dataclass(frozen=True, slots=True)
class ExpectedResubmission:
    """Resubmissions into a mailbox database, from one kind of Safety Net."""

    database: str
    source: SafetyNet


@dataclass(frozen=True, slots=True)
class Expect:
    """What the file expects; None where it says nothing."""

    lost: int | None
    unprotected_loss: tuple[int, int] | None
    promotions: tuple[ExpectedPromotion, ...] | None
    verdict: Verdict
    resubmissions: tuple[ExpectedResubmission, ...] | None = None
