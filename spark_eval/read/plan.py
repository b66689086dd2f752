"""The plan and the host's measurements, typed: what was asked, and of what.

Every default is written out in a plan; the few that this page repeats serve small hand-made plans
for the logs of real servers (F§3.1, F§3.2, F§3.3). Durations are lab milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from spark_eval.fault_kinds import KINDS
from spark_eval.read.json_values import Malformed, row_of
from spark_eval.read.operation_kinds import KINDS as OPERATION_KINDS
from spark_eval.read.operation_kinds import Keys

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS


class Evidence(StrEnum):
    """What the record of a server can show. It says nothing of what happened in a run: a log that a
    server writes, and that is damaged or was not collected, is missing, and no evidence less.

    `LEDGER`: its own replies to senders. `MAILBOXES`: what its recipients see. `TRACKING`:
    message tracking as Exchange writes it. `EXACT_TRACKING`: with the rows of F§1.4 and no others,
    each step once, with the size and the recipients that the message has. `QUEUES`, `COPIES`: what
    its stores hold at the end. `COMMON_CLOCK`: monotonic times of the one clock that all share.
    """

    LEDGER = "ledger"
    MAILBOXES = "mailboxes"
    TRACKING = "tracking"
    EXACT_TRACKING = "exact-tracking"
    CONNECTIVITY = "connectivity"
    LIFECYCLE = "lifecycle"
    QUEUES = "queues"
    COPIES = "copies"
    COMMON_CLOCK = "common-clock"


LEDGER = Evidence.LEDGER
MAILBOXES = Evidence.MAILBOXES
TRACKING = Evidence.TRACKING
EXACT_TRACKING = Evidence.EXACT_TRACKING
CONNECTIVITY = Evidence.CONNECTIVITY
LIFECYCLE = Evidence.LIFECYCLE
QUEUES = Evidence.QUEUES
COPIES = Evidence.COPIES
COMMON_CLOCK = Evidence.COMMON_CLOCK


class Link(NamedTuple):
    from_: str | None
    to: str | None
    service: str | None


class When(NamedTuple):
    """A fault that waits for a breakpoint."""

    server: str | None
    at: str | None
    nth: int | None
    until_ms: int | None
    for_ms: int | None


class PlannedFault(NamedTuple):
    """`keys`: what its kind says beside these (`spark_eval.fault_kinds`)."""

    id: str
    kind: str
    start_ms: int | None
    end_ms: int | None
    links: tuple[Link, ...]
    server: str | None
    when: When | None
    keys: Mapping[str, Any]


class PlannedOperation(NamedTuple):
    """`keys`: what its kind says beside these (`spark_eval.read.operation_kinds`)."""

    id: str
    kind: str
    at_ms: int | None
    keys: Keys

    @property
    def words(self) -> str:
        return self.keys.words(self.kind)


class PlannedMessage(NamedTuple):
    message_id: str | None
    at_ms: int | None
    mail: str | None
    sender: str | None
    recipients: tuple[str, ...] | None
    via: tuple[str, ...] | None
    size_bytes: int | None
    retry_ms: int | None


class PlannedStranger(NamedTuple):
    id: str | None
    kind: str | None
    at_ms: int | None
    server: str | None
    certificate: str | None


class PlannedServer(NamedTuple):
    name: str | None
    fqdn: str | None
    role: str | None
    site: str | None
    dag: str | None
    domain: str | None
    auto_activation: str | None
    mount_dial: str | None
    evidence: tuple[str, ...] | None


class PlannedCopy(NamedTuple):
    server: str | None
    activation_preference: int | None
    replay_lag_time_ms: int | None


class PlannedDatabase(NamedTuple):
    name: str | None
    copies: tuple[PlannedCopy, ...] | None
    duplicate_detection_window_ms: int | None
    background_cleanup_ms: int | None
    journal: str | None = None


class PlannedMailbox(NamedTuple):
    address: str | None
    database: str | None
    public_folder: bool | None


class PlannedSite(NamedTuple):
    name: str | None
    outside: bool | None
    hub: bool | None


class PlannedSiteLink(NamedTuple):
    between: tuple[str, ...] | None
    cost: int | None
    exchange_cost: int | None
    max_message_size_bytes: int | None


class PlannedSendConnector(NamedTuple):
    name: str | None
    to: str | None
    sources: tuple[str, ...] | None
    cost: int | None
    max_message_size_bytes: int | None


class PlannedGroup(NamedTuple):
    name: str | None
    address: str | None
    members: tuple[str, ...] | None
    expansion_server: str | None = None


class Topology(NamedTuple):
    name: str | None
    accepted_domain: str | None
    servers: tuple[PlannedServer, ...] | None
    databases: tuple[PlannedDatabase, ...] | None
    mailboxes: tuple[PlannedMailbox, ...] | None
    sites: tuple[PlannedSite, ...] | None = None
    site_links: tuple[PlannedSiteLink, ...] | None = None
    send_connectors: tuple[PlannedSendConnector, ...] | None = None
    groups: tuple[PlannedGroup, ...] | None = None


class Settings(NamedTuple):
    """Parameter to value; of servers by section; `software`: what none of them sets."""

    TransportConfig: dict[str, str] | None
    servers: dict[str, dict[str, dict[str, str]]] | None
    software: dict[str, int] | None


class ExpectedPromotion(NamedTuple):
    of: str | None
    cause: str | None
    after_ms: int | None
    within_ms: int | None


class ExpectedResubmission(NamedTuple):
    database: str | None
    from_: str | None


class Expect(NamedTuple):
    lost: int | None = None
    unprotected_loss: tuple[int, ...] | None = None
    promotions: tuple[ExpectedPromotion, ...] | None = None
    resubmissions: tuple[ExpectedResubmission, ...] | None = None
    verdict: str | None = None


class Clock(NamedTuple):
    origin: str | None
    speed: float | None


class _Written(NamedTuple):
    """plan.json as it stands there, but for faults and operations, of which each kind has keys of
    its own.
    """

    version: str | None
    scenario: str | None
    summary: str | None
    proves: tuple[str, ...] | None
    seed: int | None
    clock: Clock | None
    duration_ms: int | None
    workload_end_ms: int | None
    last_heal_ms: int | None
    settle_ms: int | None
    topology: Topology | None
    settings: Settings | None
    faults: tuple[Any, ...] | None
    operations: tuple[Any, ...] | None
    expect: Expect | None
    strangers: tuple[PlannedStranger, ...] | None
    messages: tuple[PlannedMessage, ...] | None


class Plan(NamedTuple):
    """What is missing from a small plan is empty, or None."""

    scenario: str | None
    proves: tuple[str, ...]
    seed: int | None
    clock: Clock
    end_ms: int | None
    topology: Topology
    transport_config: Mapping[str, str]
    server_config: Mapping[str, Mapping[str, Mapping[str, str]]]
    software: Mapping[str, int]
    faults: tuple[PlannedFault, ...]
    operations: tuple[PlannedOperation, ...]
    expect: Expect
    strangers: tuple[PlannedStranger, ...]
    messages: tuple[PlannedMessage, ...]


EMPTY = Topology(None, None, (), (), ())


def plan_of(value: Any) -> Plan:
    """Of plan.json. Raises `Malformed` where something has another type than it should, a fault or
    an operation is of no kind that is known, which would excuse nothing and be passed over, or a
    server can show what nobody knows.
    """
    read = row_of(_Written, value)
    words = {
        word for each in (read.topology or EMPTY).servers or () for word in each.evidence or ()
    }
    if unknown := words - set(Evidence):
        raise Malformed(f"evidence of no kind that is known: {min(unknown)}")
    settings = read.settings or Settings(None, None, None)
    return Plan(
        scenario=read.scenario,
        proves=read.proves or (),
        seed=read.seed,
        clock=read.clock or Clock(None, None),
        end_ms=read.duration_ms,
        topology=read.topology or EMPTY,
        transport_config=settings.TransportConfig or {},
        server_config=settings.servers or {},
        software=settings.software or {},
        faults=tuple(_fault(each) for each in read.faults or ()),
        operations=tuple(operation_of(each) for each in read.operations or ()),
        expect=read.expect or Expect(),
        strangers=read.strangers or (),
        messages=read.messages or (),
    )


class _Fault(NamedTuple):
    id: str | None
    kind: str | None
    start_ms: int | None
    end_ms: int | None
    links: tuple[Link, ...] | None
    server: str | None
    when: When | None


def _fault(value: Any) -> PlannedFault:
    read = row_of(_Fault, value)
    if read.id is None:
        raise Malformed("a fault without a name")
    if read.kind is None or read.kind not in KINDS:
        raise Malformed(f"fault {read.id} is of no kind that is known: {read.kind}")
    keys = {name: value.get(name) for name in KINDS[read.kind].keys}
    return PlannedFault(
        read.id, read.kind, read.start_ms, read.end_ms, read.links or (), read.server, read.when,
        keys,
    )  # fmt: skip


class _Operation(NamedTuple):
    id: str | None
    kind: str | None
    at_ms: int | None


def operation_of(value: Any) -> PlannedOperation:
    """Of an entry of `operations`. Raises `Malformed`."""
    read = row_of(_Operation, value)
    if read.id is None:
        raise Malformed("an operation without a name")
    if read.kind is None or read.kind not in OPERATION_KINDS:
        raise Malformed(f"operation {read.id} is of no kind that is known: {read.kind}")
    keys = row_of(OPERATION_KINDS[read.kind], value)
    return PlannedOperation(read.id, read.kind, read.at_ms, keys)


class Host(NamedTuple):
    """host.json: what differs from run to run; `exit` is the lab's."""

    clock_resolution_ms: float | None
    monotonic_zero_ns: int | None
    exit: int | None


NO_HOST = Host(None, None, None)


def host_of(value: Any) -> Host:
    """Raises `Malformed`."""
    return row_of(Host, value)


class Manifest(NamedTuple):
    """manifest.json: which run it is."""

    run: str | None
    scenario: str | None
    seed: int | None
    host: str | None
    speed: float | None
    origin: str | None
    file_list: str | None


NO_MANIFEST = Manifest(None, None, None, None, None, None, None)


def manifest_of(value: Any) -> Manifest:
    """Raises `Malformed`."""
    return row_of(Manifest, value)
