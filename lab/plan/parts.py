"""The parts of a plan: plain frozen values with the field names of plan.json.

`…_ms` is lab milliseconds since the start of lab time; timespans among the settings are
milliseconds too. `source` and `target` are `from` and `to` in the file. Nothing here computes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from nodes.core.config.parameters import Value
from nodes.shell.chaos.places import Place

Section: TypeAlias = Mapping[str, Value]
CutKind = Literal["refuse", "blackhole", "stall", "reset", "ack-lost"]
ReturnsWith = Literal["same-queue-database", "new-queue-database"]
Cause = Literal["database-id-changed", "resubmit-time-span"]
Verdict = Literal["pass", "fail", "unknown"]
AutoActivation = Literal["Unrestricted", "IntrasiteOnly", "Blocked"]
OperationKind = Literal["failover", "switchover"]
SafetyNet = Literal["primary-safety-net", "shadow-safety-net"]
StrangerKind = Literal["no-certificate", "foreign-certificate", "other-server", "trickles"]


@dataclass(frozen=True, slots=True)
class Clock:
    """The lab clock: the date of t = 0 and lab seconds per second of wall clock."""

    origin: str
    speed: float


@dataclass(frozen=True, slots=True)
class Site:
    """An Active Directory site; `outside` is where servers of other organisations stand."""

    name: str
    outside: bool


@dataclass(frozen=True, slots=True)
class SiteLink:
    """An IP site link."""

    between: tuple[str, str]
    cost: int


@dataclass(frozen=True, slots=True)
class Server:
    """A server; `dag` for members of one, `domain` for external servers.

    `auto_activation` is DatabaseCopyAutoActivationPolicy of a mailbox server.
    """

    name: str
    fqdn: str
    role: Literal["mailbox", "external", "active_manager"]
    site: str
    dag: str | None
    domain: str | None
    auto_activation: AutoActivation = "Unrestricted"


@dataclass(frozen=True, slots=True)
class Dag:
    """A database availability group."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatabaseCopy:
    """A copy of a mailbox database; the one with activation preference 1 is active."""

    server: str
    activation_preference: int
    replay_lag_time_ms: int


WEEK_MS = 7 * 86_400_000


@dataclass(frozen=True, slots=True)
class Database:
    """A mailbox database and its copies, in order of activation preference.

    `duplicate_detection_window_ms` is the same wherever it is active (DD-2).
    """

    name: str
    copies: tuple[DatabaseCopy, ...]
    duplicate_detection_window_ms: int = WEEK_MS


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A mailbox and the database that holds it."""

    address: str
    database: str


@dataclass(frozen=True, slots=True)
class PlanTopology:
    """Who is there, in the order of the file."""

    name: str
    accepted_domain: str
    sites: tuple[Site, ...]
    site_links: tuple[SiteLink, ...]
    servers: tuple[Server, ...]
    dags: tuple[Dag, ...]
    databases: tuple[Database, ...]
    mailboxes: tuple[Mailbox, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """Every parameter with its value: the organisation's, and server -> section -> name."""

    TransportConfig: Section
    servers: Mapping[str, Mapping[str, Section]]


@dataclass(frozen=True, slots=True)
class LinkName:
    """A link: sessions that `source` opens towards `target` for a service."""

    source: str
    target: str
    service: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link with its proxy and the port that the proxy listens on."""

    source: str
    target: str
    service: str
    proxy: str
    port: int


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the workload; its Date is the origin plus `at_ms`."""

    message_id: str
    at_ms: int
    mail: Literal["inbound", "outbound"]
    sender: str
    recipients: tuple[str, ...]
    via: tuple[str, ...]
    size_bytes: int
    retry_ms: int


@dataclass(frozen=True, slots=True)
class When:
    """Instead of a time: the `nth` time that a server reaches a place in the protocol.

    Counted from the fault's `start_ms`, the earliest it can begin, to `until_ms`, the latest. It
    lasts `for_ms` from then on, so its `end_ms` is the latest at which it can be healed.
    """

    server: str
    at: Place
    nth: int
    until_ms: int
    for_ms: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Links cut from start to end, in one of the five ways."""

    id: str
    kind: Literal["cut"]
    start_ms: int
    end_ms: int
    cut_kind: CutKind
    links: tuple[LinkName, ...]
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Kill:
    """A server killed at the start and started again at the end."""

    id: str
    kind: Literal["kill"]
    start_ms: int
    end_ms: int
    server: str
    returns_with: ReturnsWith
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Slow:
    """Links on which every byte comes late, by `latency_ms` give or take `jitter_ms`."""

    id: str
    kind: Literal["slow"]
    start_ms: int
    end_ms: int
    latency_ms: int
    jitter_ms: int
    links: tuple[LinkName, ...]
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Throttle:
    """Links that carry so many bytes per second of lab time, in each direction, and no more."""

    id: str
    kind: Literal["throttle"]
    start_ms: int
    end_ms: int
    bytes_per_second: int
    links: tuple[LinkName, ...]
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """A server that stands still from start to end, its connections open, its clock going on."""

    id: str
    kind: Literal["pause"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """A server that ends in good order and is started at the end, with all that it had."""

    id: str
    kind: Literal["stop"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Restart:
    """A server that ends in good order and is started at once: `end_ms` is `start_ms`."""

    id: str
    kind: Literal["restart"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Corrupt:
    """A server killed at the start, whose queue database is damaged before it is started again."""

    id: str
    kind: Literal["corrupt"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None


@dataclass(frozen=True, slots=True)
class PowerLoss:
    """A server whose power goes at the start: killed, and what was not durable may be gone when it
    is started at the end.
    """

    id: str
    kind: Literal["power_loss"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None


@dataclass(frozen=True, slots=True)
class FillDisk:
    """A server whose databases cannot grow from start to end."""

    id: str
    kind: Literal["fill_disk"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None


@dataclass(frozen=True, slots=True)
class SkewClock:
    """A server whose clock shows `by_ms` more than lab time from start to end."""

    id: str
    kind: Literal["skew_clock"]
    start_ms: int
    end_ms: int
    server: str
    by_ms: int
    when: When | None = None


LinkFault: TypeAlias = Cut | Slow | Throttle
ServerFault: TypeAlias = Kill | PowerLoss | Corrupt | Pause | Stop | Restart  # it is away
MachineFault: TypeAlias = FillDisk | SkewClock  # it is there, on a machine that is out of order
Fault: TypeAlias = LinkFault | ServerFault | MachineFault


@dataclass(frozen=True, slots=True)
class Operation:
    """What an administrator asks of Active Manager at a moment: the copy on `to` is to be active.

    `to` is None where Active Manager chooses. A switchover waits for the last log, a failover does
    not.
    """

    id: str
    kind: OperationKind
    at_ms: int
    database: str
    to: str | None


@dataclass(frozen=True, slots=True)
class Trickle:
    """A message of which a byte comes every `every_ms`, for `for_ms` at the most."""

    sender: str
    recipient: str
    every_ms: int
    for_ms: int


@dataclass(frozen=True, slots=True)
class Stranger:
    """A client that has no right to what it asks of `server`, which it calls at `at_ms`.

    `certificate` names the server whose certificate it shows. It says `commands` one after the
    other, and then sends what trickles, if anything does.
    """

    id: str
    kind: StrangerKind
    at_ms: int
    server: str
    certificate: str | None
    commands: tuple[str, ...]
    trickle: Trickle | None


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
