"""A run: who was there, what was set, what went wrong. Bounded by servers and time, not by mail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from spark_eval.histories.deliveries import DeliveriesByCopy, StoredByCopy
from spark_eval.histories.faults import Fault, faults_of
from spark_eval.histories.log_sums import LogSums
from spark_eval.histories.mail_of_pairs import MailOfPairs
from spark_eval.histories.organisation.active_copies import ActiveCopies
from spark_eval.histories.organisation.component_states import denying_of, inactive_of
from spark_eval.histories.organisation.database import Database
from spark_eval.histories.organisation.directory import Directory
from spark_eval.histories.organisation.groups import Groups
from spark_eval.histories.organisation.organisation import Organisation, organisation_of
from spark_eval.histories.organisation.routing import Routing
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.organisation.settings import TransportConfig
from spark_eval.histories.organisation.software import Software
from spark_eval.histories.pairs import Pairs, questions_of
from spark_eval.histories.queues import Answer, Queues, answers_from_outside, queues_of
from spark_eval.histories.routes import Routes
from spark_eval.histories.sessions import Session, sessions_of
from spark_eval.histories.stores import Stores
from spark_eval.histories.traffic import Traffic
from spark_eval.histories.ways import Ways
from spark_eval.intervals.interval import Interval
from spark_eval.intervals.outage import Outage
from spark_eval.read.clocks import LabClock
from spark_eval.read.clocks_off import ClockOff
from spark_eval.read.damage import Damage
from spark_eval.read.names import Ref
from spark_eval.read.plan import Expect, PlannedOperation, PlannedStranger
from spark_eval.read.record import Record
from spark_eval.read.rows import (
    CopyRow,
    LifecycleRow,
    OperationRow,
    StrangerRow,
    TrackingRow,
    collected,
    grouped,
)

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


@dataclass(frozen=True, eq=False)
class Run:
    """Everything that is known of a run beside its messages. `is_made`: its plan names what is
    sent; `is_of_lab`: a host of the lab's ran it; `files`: what was collected; `asks_safety_nets`:
    some Safety Net was asked; `copies` of mailbox databases at the end; `still`: while nobody did
    anything.
    """

    name: str
    proves: tuple[str, ...]
    is_simulated: bool
    is_made: bool
    is_of_lab: bool
    end_ms: int | None
    clock: LabClock
    resolution_ms: float | None
    organisation: Organisation
    faults: tuple[Fault, ...]
    ways: Ways
    routes: Routes
    asks_safety_nets: bool
    pairs: Pairs
    sessions: Sequence[tuple[str, Session]]
    probes: tuple[TrackingRow, ...]
    copies: tuple[CopyRow, ...]
    stores: Stores
    strangers: tuple[PlannedStranger, ...]
    stranger_rows: tuple[StrangerRow, ...]
    planned_operations: tuple[PlannedOperation, ...]
    operation_rows: tuple[OperationRow, ...]
    inactive: Mapping[str, tuple[Outage, ...]]
    denying: Mapping[str, tuple[Outage, ...]]
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
    stored: StoredByCopy = field(default_factory=dict)
    waits: Mapping[Ref, Wait] = field(default_factory=dict)

    @property
    def config(self) -> TransportConfig:
        return self.organisation.config

    @property
    def directory(self) -> Directory:
        return self.organisation.directory

    @property
    def routing(self) -> Routing:
        return self.organisation.routing

    @property
    def groups(self) -> Groups:
        return self.organisation.groups

    @property
    def software(self) -> Software:
        return self.organisation.software

    @property
    def servers(self) -> Mapping[str, Server]:
        return self.organisation.servers

    def is_front_end(self, server: str) -> bool:
        return server in self.servers and self.servers[server].is_front_end

    def behind(self, called: str) -> tuple[str, ...]:
        return self.organisation.behind(called)

    @property
    def databases(self) -> Mapping[str, Database]:
        return self.organisation.databases

    @property
    def active_copies(self) -> Mapping[str, ActiveCopies]:
        return self.organisation.active_copies

    @property
    def speed(self) -> float:
        """Lab ms for each of the clock that servers wait and log by."""
        return self.clock.speed

    @property
    def finest_ms(self) -> int:
        return self.clock.finest_ms

    @property
    def acting(self) -> list[Interval]:
        """The possible extents of all faults that were begun."""
        return [each.outage.possible for each in self.faults if each.outage is not None]

    @cached_property
    def taking_ms(self) -> int | None:
        """What a sender waited for its 250 in the median."""
        return self.traffic.taking_ms

    @cached_property
    def expired(self) -> dict[tuple[str, str | None], list[int]]:
        """By server and internal id there, when a shadow message left its queue, its stay over."""
        return collected(
            ((row.server, row.internal_id), row.at_ms)
            for row in self.said("shadow-expired")
            if row.at_ms is not None
        )

    def is_listed(self, server: str) -> bool:
        """Whether what the queue database held at the end was collected, and can be read whole.
        What contradicts it from outside, which is damage of no server's, hides nothing of it.
        """
        file = f"logs/{server}/queues.jsonl"
        return file in self.files and not any(
            each.file == file and each.server for each in self.damage
        )

    @cached_property
    def _said(self) -> dict[str, list[LifecycleRow]]:
        return grouped(self.lifecycle, lambda row: row.event)

    def said(self, event: str) -> Sequence[LifecycleRow]:
        """Lifecycle rows of that event, of all servers, in the order of the record."""
        return self._said.get(event, ())

    def said_ms(self, event: str, **like: object) -> list[int]:
        """When rows of that event say so whose fields are `like` these."""
        return [
            row.at_ms
            for row in self.said(event)
            if row.at_ms is not None and all(getattr(row, name) == like[name] for name in like)
        ]

    @cached_property
    def promotions_begun(self) -> dict[tuple[str, str, str], list[int]]:
        """By shadow server, primary server and cause, when a promotion had begun."""
        return collected(
            ((row.server, (row.primary or "").lower(), row.cause or ""), row.at_ms)
            for row in self.said("promotion-begun")
            if row.at_ms is not None
        )

    @cached_property
    def ready_ms(self) -> dict[str, int]:
        """By server, when it had started for the last time, and had room on its disk."""
        found: dict[str, int] = {}
        starts = ((row.server, row.at_ms) for row in self.said("started") if row.at_ms is not None)
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
        return collected(
            ((server, session.ended.peer or ""), session.ended.at_ms)
            for server, session in self.sessions
            if session.ended is not None and session.gave_up is not None
        )

    @cached_property
    def wrong_clocks(self) -> dict[str, list[Interval]]:
        """By server, while its clock may have been wrong."""
        return collected(
            (each.server, each.outage.possible)
            for each in self.faults
            if each.kind == "skew_clock" and each.outage is not None and each.server is not None
        )

    def is_collected(self, recipient: str) -> bool:
        """Whether what a recipient sees was."""
        return self.directory.file_of(recipient) in self.files


def run_of(record: Record, sums: LogSums, traffic: Traffic, stores: Stores) -> Run:
    """What only all mail together shows by way of it (`limits` and on) is not there yet."""
    heading, rows = record.heading, record.rows
    plan, clock = heading.plan, heading.clock
    faults = faults_of(plan.faults, rows.faults)
    own = organisation_of(record, sums.logs, faults)
    inactive = inactive_of(plan.operations, rows.operations, own.servers)
    denying = denying_of(plan.operations, rows.operations, own.servers)
    ways = Ways(faults, own.servers, inactive, denying)
    sessions = list(sessions_of(record.connectivity))
    return Run(
        name=heading.manifest.run or "",
        proves=plan.proves,
        is_simulated=heading.is_simulated,
        is_made=heading.is_made,
        is_of_lab=heading.is_of_lab,
        end_ms=plan.end_ms,
        clock=clock,
        resolution_ms=heading.host.clock_resolution_ms,
        organisation=own,
        faults=faults,
        ways=ways,
        routes=Routes(
            own.servers,
            own.databases,
            own.active_copies,
            ways,
            own.software,
            own.routing,
            makes_redundant=own.config.enabled,
        ),
        asks_safety_nets=any(
            row.event in TAKEN_ON and row.request_id is not None for row in rows.lifecycle
        ),
        pairs=Pairs(own.servers, ways, questions_of(record.connectivity), sessions),
        queues=queues_of(sums.queues, sessions),
        sessions=sessions,
        probes=tuple(record.probes),
        copies=tuple(rows.copies),
        stores=stores,
        strangers=plan.strangers,
        stranger_rows=tuple(rows.strangers),
        planned_operations=plan.operations,
        operation_rows=tuple(rows.operations),
        inactive=inactive,
        denying=denying,
        answers=answers_from_outside(sums.outside),
        traffic=traffic,
        still=tuple(sorted(traffic.still)),
        expect=plan.expect,
        files=heading.files,
        damage=tuple(record.damage),
        clocks_off=record.off.seen(),
        lifecycle=tuple(rows.lifecycle),
    )
