"""A run: who was there, what was set, what went wrong. Bounded by servers and time, not by mail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from spark_eval.fault_kinds import Does
from spark_eval.next.histories.active_copies import ActiveCopies, active_copies
from spark_eval.next.histories.clocks_off import FAR_ABOVE, ClockOff, clocks_off
from spark_eval.next.histories.database import Database
from spark_eval.next.histories.deliveries import DeliveriesByCopy
from spark_eval.next.histories.faults import Fault, faults_of
from spark_eval.next.histories.mail_of_pairs import MailOfPairs
from spark_eval.next.histories.pairs import Pairs, questions_of
from spark_eval.next.histories.queues import Answer, Queues, answers_from_outside, queues_of
from spark_eval.next.histories.routes import Routes
from spark_eval.next.histories.server import (
    EXTERNAL,
    UNLOGGED_WALL_MS,
    Down,
    Server,
    eras_of,
    holes_of,
)
from spark_eval.next.histories.sessions import Session, sessions_of
from spark_eval.next.histories.settings import TransportConfig, server_config, transport_config
from spark_eval.next.histories.traffic import Traffic, standstills
from spark_eval.next.histories.ways import Ways
from spark_eval.next.intervals.interval import Interval
from spark_eval.next.read.clocks import LabClock
from spark_eval.next.read.damage import Damage
from spark_eval.next.read.names import Ref
from spark_eval.next.read.plan import Expect, PlannedOperation, PlannedServer, PlannedStranger
from spark_eval.next.read.record import Record, lab_clock
from spark_eval.next.read.rows import (
    ConnectivityRow,
    CopyRow,
    LifecycleRow,
    OperationRow,
    QueueRow,
    StrangerRow,
    TrackingRow,
)

# what a store holds though no promise keeps it
LEFT_OVER = ("left-body", "left-fork", "left-head", "running-request")
# what a server says of a resubmit request that it has taken on
TAKEN_ON = ("resubmit-requested", "resubmit-taken-up", "resubmit-completed")


class Limits(NamedTuple):
    """Of a change of the active copy: `survived_ms`, the last delivery before it that the new copy
    has, `lost_ms` and `lost_ref`, the first that it lacked, `lost_deliveries`, how many.
    """

    survived_ms: int | None = None
    lost_ms: int | None = None
    lost_ref: Ref | None = None
    lost_deliveries: int = 0


NO_LIMITS = Limits()


class Wait(NamedTuple):
    """A message that was sent to another server, from when it came, or was loaded."""

    sent_ms: int
    since_ms: int
    message_id: str
    came_ref: Ref
    sent_ref: Ref


class Waiting(NamedTuple):
    """Discard notifications of one server that wait for another one: how many, and the oldest."""

    notifications: int
    oldest: QueueRow


@dataclass(frozen=True, eq=False)
class Run:
    """Everything that is known of a run beside its messages. `places`: recipient to the file that
    has what the recipient sees; `files`: what was collected; `speed`: lab ms for each of the clock
    that servers wait and log by; `is_made`: its plan names what is
    sent; `is_of_lab`: a host of the lab's ran it; `asks_safety_nets`: some Safety Net was asked.
    """

    name: str
    proves: tuple[str, ...]
    is_simulated: bool
    is_made: bool
    is_of_lab: bool
    end_ms: int | None
    clock: LabClock
    resolution_ms: float | None
    config: TransportConfig
    servers: Mapping[str, Server]
    databases: Mapping[str, Database]
    mailboxes: Mapping[str, str]
    outside: Mapping[str, str]
    active_copies: Mapping[str, ActiveCopies]
    faults: tuple[Fault, ...]
    ways: Ways
    routes: Routes
    asks_safety_nets: bool
    pairs: Pairs
    sessions: Sequence[tuple[str, Session]]
    probes: tuple[TrackingRow, ...]
    connectivity: Mapping[str, tuple[ConnectivityRow, ...]]
    unnamed_queued: tuple[QueueRow, ...]
    copies: tuple[CopyRow, ...]
    lagged: frozenset[tuple[str, str]]
    waiting: Mapping[tuple[str, str], Waiting]
    left_over: tuple[QueueRow, ...]
    strangers: tuple[PlannedStranger, ...]
    stranger_rows: tuple[StrangerRow, ...]
    planned_operations: tuple[PlannedOperation, ...]
    operation_rows: tuple[OperationRow, ...]
    queues: Mapping[str, Queues]
    answers: Mapping[tuple[str, str], list[Answer]]
    traffic: Traffic
    still: tuple[Interval, ...]
    expect: Expect
    files: frozenset[str]
    damage: tuple[Damage, ...]
    clocks_off: tuple[ClockOff, ...]
    lifecycle: tuple[LifecycleRow, ...]
    limits: Mapping[tuple[str, int], Limits] = field(default_factory=dict)
    mail_of_pairs: MailOfPairs = field(default_factory=MailOfPairs)
    delivered: DeliveriesByCopy = field(default_factory=dict)
    waits: Mapping[Ref, Wait] = field(default_factory=dict)

    @property
    def speed(self) -> float:
        return self.clock.speed

    @property
    def finest_ms(self) -> int:
        return self.clock.finest_ms

    @property
    def acting(self) -> list[Interval]:
        """The possible extents of all faults that were begun."""
        return [each.outage.possible for each in self.faults if each.outage is not None]

    @cached_property
    def logs_sessions(self) -> frozenset[str]:
        """Servers that wrote down sessions, or answers to their questions."""
        return frozenset(server for server, _ in self.sessions)

    @cached_property
    def expired(self) -> dict[tuple[str, str], list[int]]:
        """By server and network message id, when a shadow message left its queue, its stay over."""
        found: dict[tuple[str, str], list[int]] = {}
        for row in self.lifecycle:
            if row.event == "shadow-expired" and row.at_ms is not None:
                found.setdefault((row.server, row.network_message_id or ""), []).append(row.at_ms)
        return found

    def is_listed(self, server: str) -> bool:
        """Whether what the queue database held at the end was collected, and can be read whole.
        What contradicts it from outside, which is damage of no server's, hides nothing of it.
        """
        file = f"logs/{server}/queues.jsonl"
        return file in self.files and not any(
            each.file == file and each.server for each in self.damage
        )

    @cached_property
    def promotions_begun(self) -> dict[tuple[str, str, str], list[int]]:
        """By shadow server, primary server and cause, when a promotion had begun."""
        found: dict[tuple[str, str, str], list[int]] = {}
        for row in self.lifecycle:
            if row.event == "promotion-begun" and row.at_ms is not None:
                key = (row.server, (row.primary or "").lower(), row.cause or "")
                found.setdefault(key, []).append(row.at_ms)
        return found

    @cached_property
    def ready_ms(self) -> dict[str, int]:
        """By server, when it had started for the last time, and had room on its disk."""
        found: dict[str, int] = {}
        starts = (
            (row.server, row.at_ms)
            for row in self.lifecycle
            if row.event == "started" and row.at_ms is not None
        )
        freed = (
            (each.server, each.over_ms)
            for each in self.faults
            if each.kind == "fill_disk" and each.server is not None
        )
        for server, at_ms in (*starts, *freed):
            found[server] = max(found.get(server, at_ms), at_ms)
        return found

    @cached_property
    def lost_sessions(self) -> dict[tuple[str, str], list[int]]:
        """By both ends, when sessions ended otherwise than in good order."""
        found: dict[tuple[str, str], list[int]] = {}
        for server, session in self.sessions:
            if session.ended is not None and session.gave_up is not None:
                peer = session.ended.peer or ""
                found.setdefault((server, peer), []).append(session.ended.at_ms)
        return found

    @cached_property
    def wrong_clocks(self) -> dict[str, list[Interval]]:
        """By server, while its clock may have been wrong."""
        found: dict[str, list[Interval]] = {}
        for each in self.faults:
            if each.kind == "skew_clock" and each.outage is not None and each.server is not None:
                found.setdefault(each.server, []).append(each.outage.possible)
        return found

    def place_of(self, recipient: str) -> str | None:
        """The mailbox database, or the server outside, where a recipient reads mail."""
        return self.mailboxes.get(recipient) or self.outside.get(recipient.rpartition("@")[2])

    def is_inside(self, recipient: str) -> bool:
        return recipient in self.mailboxes

    def file_of(self, recipient: str) -> str | None:
        """Which file says what a recipient sees; None of one who reads no mail here."""
        if (database := self.mailboxes.get(recipient)) is not None:
            return f"mailboxes/{database}.jsonl"
        server = self.outside.get(recipient.rpartition("@")[2])
        return None if server is None else f"external/{server}.jsonl"

    def is_collected(self, recipient: str) -> bool:
        return self.file_of(recipient) in self.files


def run_of(record: Record, traffic: Traffic) -> Run:
    plan, clock = record.plan, lab_clock(record.plan, record.host, record.manifest)
    faults = faults_of(plan.faults, record.rows.faults)
    servers = _servers(record, clock, faults)
    topology, databases = plan.topology, _databases(record, servers)
    config, ways = transport_config(plan.transport_config), Ways(faults, servers)
    several = {each.name: each.copies for each in databases.values() if len(each.copies) > 1}
    mailboxes = {
        each.address.lower(): each.database
        for each in topology.mailboxes or ()
        if each.address is not None and each.database is not None
    }
    outside = {
        server.domain.lower(): server.name
        for server in servers.values()
        if server.role == EXTERNAL and server.domain
    }
    active = active_copies(several, record.rows.lifecycle)
    sessions = list(sessions_of(record.connectivity))
    return Run(
        name=record.manifest.run or "",
        proves=plan.proves,
        is_simulated=record.is_simulated,
        is_made=record.is_made,
        is_of_lab=record.is_of_lab,
        end_ms=plan.end_ms,
        clock=clock,
        resolution_ms=record.host.clock_resolution_ms,
        config=config,
        servers=servers,
        databases=databases,
        mailboxes=mailboxes,
        outside=outside,
        active_copies=active,
        faults=faults,
        ways=ways,
        routes=Routes(servers, databases, active, ways, makes_redundant=config.enabled),
        asks_safety_nets=any(
            row.event in TAKEN_ON and row.request_id is not None for row in record.rows.lifecycle
        ),
        pairs=Pairs(servers, ways, questions_of(record.connectivity), sessions),
        queues=queues_of(record.tracking, sessions),
        sessions=sessions,
        probes=tuple(record.probes),
        connectivity=_by_server(record.connectivity),
        copies=tuple(record.rows.copies),
        lagged=_lagged(record),
        waiting=_waiting(record),
        left_over=tuple(row for row in record.rows.queues if row.queue in LEFT_OVER),
        strangers=plan.strangers,
        stranger_rows=tuple(record.rows.strangers),
        planned_operations=plan.operations,
        operation_rows=tuple(record.rows.operations),
        unnamed_queued=tuple(row for row in record.rows.queues if row.message_id is None),
        # servers outside that are the lab's put nothing off by themselves
        answers={} if record.is_made else _answers(record, outside, mailboxes),
        traffic=traffic,
        still=() if record.is_simulated else _still(record, traffic, clock),
        expect=plan.expect,
        files=record.files,
        damage=tuple(record.damage),
        clocks_off=clocks_off(record.off, clock.finest_ms),
        lifecycle=tuple(record.rows.lifecycle),
    )


def _waiting(record: Record) -> dict[tuple[str, str], Waiting]:
    found: dict[tuple[str, str], list[QueueRow]] = {}
    for row in record.rows.queues:
        if row.queue == "discard" and row.shadow_server is not None:
            found.setdefault((row.server, row.shadow_server), []).append(row)
    return {pair: Waiting(len(rows), min(rows, key=_by_delivery)) for pair, rows in found.items()}


def _by_delivery(row: QueueRow) -> tuple[int, str, Ref]:
    return -1 if row.delivered_ms is None else row.delivered_ms, row.message_id or "", row.ref


def _lagged(record: Record) -> frozenset[tuple[str, str]]:
    """Copies with a ReplayLagTime, by database and server."""
    return frozenset(
        (database.name or "", (copy.server or "").lower())
        for database in record.plan.topology.databases or ()
        for copy in database.copies or ()
        if copy.replay_lag_time_ms
    )


def _by_server(rows: Iterable[ConnectivityRow]) -> dict[str, tuple[ConnectivityRow, ...]]:
    found: dict[str, list[ConnectivityRow]] = {}
    for row in rows:
        found.setdefault(row.server, []).append(row)
    return {server: tuple(own) for server, own in found.items()}


def _answers(
    record: Record, outside: Mapping[str, str], mailboxes: Mapping[str, str]
) -> dict[tuple[str, str], list[Answer]]:
    def place_of(recipient: str) -> str | None:
        return None if recipient in mailboxes else outside.get(recipient.rpartition("@")[2])

    return answers_from_outside(record.tracking, place_of)


def _still(record: Record, traffic: Traffic, clock: LabClock) -> tuple[Interval, ...]:
    logs = (record.tracking, record.probes, record.connectivity)
    written_ms = (row.at_ms for rows in logs for row in rows)
    return standstills(written_ms, traffic.waits, clock.speed)


def _databases(record: Record, servers: Mapping[str, Server]) -> dict[str, Database]:
    found = {}
    for each in record.plan.topology.databases or ():
        copies = tuple((copy.server or "").lower() for copy in each.copies or ())
        preferences = tuple(copy.activation_preference for copy in each.copies or ())
        window_ms = each.duplicate_detection_window_ms
        if window_ms is None and copies and copies[0] in servers:
            # plans of before, and those made by hand, give servers the window
            window_ms = servers[copies[0]].config.window_ms
        if each.name is not None:
            found[each.name] = Database(each.name, copies, preferences, window_ms)
    return found


def _servers(record: Record, clock: LabClock, faults: Iterable[Fault]) -> dict[str, Server]:
    planned = [each for each in record.plan.topology.servers or () if each.name is not None]
    unlogged_ms = int(UNLOGGED_WALL_MS * clock.speed)
    slack_ms = unlogged_ms + FAR_ABOVE * clock.finest_ms
    skews = [life.skew_ms for lives in record.lives.values() for life in lives]
    askew_ms = max(skews, default=0) - min(skews, default=0)
    downs, seen, damage = _downs(faults), _seen_databases(record), _damage_by_server(record.damage)
    found = {}
    for each in planned:
        name = (each.name or "").lower()
        own = tuple(sorted(downs.get(name, ())))
        found[name] = Server(
            name=name,
            fqdn=each.fqdn or name,
            role=each.role or "",
            site=each.site,
            dag=each.dag,
            domain=each.domain,
            auto_activation=each.auto_activation or "Unrestricted",
            config=server_config(_sections(record, each)),
            downs=own,
            holes=holes_of(damage.get(name, ()), own, unlogged_ms),
            eras=eras_of(seen.get(name, ())),
            lives=record.lives.get(name, ()),
            slack_ms=slack_ms,
            askew_ms=askew_ms,
        )
    return found


def _sections(record: Record, server: PlannedServer) -> Mapping[str, Mapping[str, str]]:
    return record.plan.server_config.get(server.name or "") or {}


def _downs(faults: Iterable[Fault]) -> dict[str, list[Down]]:
    found: dict[str, list[Down]] = {}
    for each in faults:
        counts = each.acts_on_server and each.does in (Does.AWAY, Does.IN_DOUBT)
        if counts and each.server is not None and each.outage is not None:
            found.setdefault(each.server, []).append(Down(each.outage, each.kind))
    return found


def _seen_databases(record: Record) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for row in record.rows.lifecycle:
        if row.database_id and row.at_ms is not None:
            found.setdefault(row.server, []).append((row.at_ms, row.database_id))
    for event in record.tracking:
        if event.database_id:
            found.setdefault(event.server, []).append((event.at_ms, event.database_id))
    return found


def _damage_by_server(
    damage: Iterable[Damage],
) -> dict[str, list[tuple[int | None, int | None]]]:
    found: dict[str, list[tuple[int | None, int | None]]] = {}
    for each in damage:
        if each.server:
            found.setdefault(each.server, []).append((each.from_ms, each.to_ms))
    return found
