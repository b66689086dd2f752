"""One run in virtual time: a plan in, the record of its run folder out.

The same plan gives the same bytes, in any process and on any machine: one thread, no clock but the
world's, and every draw by name from the plan's seed. What the record means is not decided here.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress

from lab.clock import LabClock, parse_origin
from lab.faults import faults_of
from lab.faults.observer.target import RunningLab, Wire
from lab.hosts.node_config import breakpoints, node_config
from lab.hosts.simulator.breakpoints import Holds
from lab.hosts.simulator.controls import (
    AnyServer,
    SimulatedProber,
    SimulatedProxies,
    SimulatedServers,
)
from lab.hosts.simulator.event_loop import MS, SECOND, World
from lab.hosts.simulator.events import Events
from lab.hosts.simulator.network import Link
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.schedule import SimulatedSchedule
from lab.hosts.simulator.server import SimulatedServer
from lab.hosts.simulator.smtp.external import ExternalServer
from lab.hosts.simulator.spinning import allowance
from lab.hosts.simulator.storage.medium import InMemory, OnFiles
from lab.hosts.simulator.strangers import Strangers
from lab.hosts.simulator.workload import Workload
from lab.plan.links import WORKLOAD
from lab.plan.plan import Plan
from lab.plan.topology import LinkName, Server
from lab.schedule.journal import Journal
from lab.schedule.operations import operations_of
from lab.workload.ledger import Ledger
from lab.workload.stranger_record import STRANGERS_FILE, StrangerRecord
from nodes.store.dump import (
    MailboxFile,
    Row,
    copy_rows_in,
    mailbox_rows_in,
    queue_rows_in,
    shown_to_users,
    standing_in,
)

STOP_WITHIN_US = 10 * SECOND


def simulate(
    plan: Plan, *, keeps_inputs: bool = True, events: Events | None = None
) -> RecordInMemory:
    """Run a plan from its first to its last moment, and take it down in good order. `events` is
    notified of all that happens up to the last moment, and says which faults begin at an event.
    """
    return Simulation(plan, keeps_inputs=keeps_inputs, events=events).run()


def _nobody_waits() -> threading.Event:
    """In a world of one thread nothing comes while somebody waits for it."""
    ending = threading.Event()
    ending.set()
    return ending


class Simulation:
    """The world of one plan. `run` it once."""

    def __init__(
        self, plan: Plan, *, keeps_inputs: bool = True, events: Events | None = None
    ) -> None:
        origin = parse_origin(plan.clock.origin)
        self.plan, self.record = plan, RecordInMemory()
        self.world = World(round(origin.timestamp() * 1000))
        self._clock = LabClock(origin, 1.0, 0)
        self._keeps_inputs, self._events = keeps_inputs, events
        self.servers = {server.name: self._server(server) for server in plan.topology.servers}
        self.links = {
            link.proxy: self._link(link.source, link.target, link.service) for link in plan.links
        }
        for name, server in self.servers.items():
            if isinstance(server, SimulatedServer):
                links = (link for link in self.links.values() if link.name.source == name)
                server.links = {(link.name.target, link.name.service): link for link in links}
        self._hands = SimulatedServers(self.world, self.servers)
        self._workload = self._make_workload()
        self._strangers = self._make_strangers()
        self._schedule = self._make_schedule()

    def run(self) -> RecordInMemory:
        for server in self.servers.values():
            server.start_at_once()
        self.world.run_until(self.plan.duration_ms * MS)
        if self._events is not None:
            self._events.is_over = True
        self._schedule.heal()
        self._workload.stop()
        if self._strangers is not None:
            self._strangers.stop()
        self._stop_servers()
        self._collect()
        return self.record

    def _server(self, server: Server) -> AnyServer:
        plan, files = self.plan, self.record.logs(server.name)
        if server.role == "external":
            record = self.record.file(f"external/{server.name}.jsonl").append
            return ExternalServer(self.world, server, record, plan.seed)
        config = node_config(plan, server)
        holds = Holds(self.world, breakpoints(plan, server.name))
        loses_power = server.name in plan.powerless
        return SimulatedServer(
            self.world,
            config,
            files,
            plan.seed,
            holds,
            allowed=allowance(plan, config),
            keeps_inputs=self._keeps_inputs,
            events=self._events,
            medium=OnFiles(plan.seed, server.name) if loses_power else InMemory(),
        )

    def _link(self, source: str, target: str, service: str) -> Link:
        sites = {server.name: server.site for server in self.plan.topology.servers}
        name, far = LinkName(source, target, service), sites.get(source) != sites[target]
        return Link(
            self.world,
            name,
            self.servers[target],
            far=far,
            seed=self.plan.seed,
            events=self._events,
        )

    def _links_from(self, source: str) -> Mapping[str, Link]:
        links = self.links.values()
        return {link.name.target: link for link in links if link.name.source == source}

    def _make_workload(self) -> Workload:
        append = self.record.file("ledger.jsonl").append
        ledger = Ledger(append, self._clock.lab_ms, self.world.mono_ns)
        links = self._links_from(WORKLOAD)
        plan = self.plan
        databases = {box.address: box.database for box in plan.topology.mailboxes}
        return Workload(
            self.world, self._clock, plan.messages, links, ledger, plan.duration_ms, databases
        )

    def _make_strangers(self) -> Strangers | None:
        plan, world = self.plan, self.world
        if not plan.strangers:
            return None
        append = self.record.file(STRANGERS_FILE).append
        record = StrangerRecord(append, self._clock.lab_ms, world.mono_ns)
        links = self._links_from(WORKLOAD)
        return Strangers(world, plan.strangers, links, record, plan.duration_ms)

    def _make_schedule(self) -> SimulatedSchedule:
        wires = {link.name: Wire(proxy, proxy) for proxy, link in self.links.items()}
        lab = RunningLab(
            self.plan,
            self._clock,
            wires,
            SimulatedProxies(self.links),
            self._hands,
            SimulatedProber(self.links, self._hands),
            monotonic_ns=self.world.mono_ns,
            ending=_nobody_waits(),
        )
        lines = JsonText(self.record.file("faults.jsonl"))
        asked = operations_of(self.plan, lab)
        journal = Journal(
            lines,
            self._clock,
            self.world.mono_ns,
            [each.id for each in asked],
            JsonText(self.record.file("operations.jsonl")) if asked else None,
        )
        faults = [*faults_of(self.plan, lab), *asked]
        struck = self._events.struck if self._events is not None else frozenset[str]()
        schedule = SimulatedSchedule(
            self.world, faults, journal, lambda: self._hands.are_settled, struck
        )
        if self._events is not None:
            self._events.when_struck = schedule.strike
        for server in self.servers.values():
            if isinstance(server, SimulatedServer):
                server.holds.when_held = schedule.look
        return schedule

    def _stop_servers(self) -> None:
        self.world.run_until(self.world.now_us + STOP_WITHIN_US)  # who boots is up by then
        for server in self.servers.values():
            server.stop()
        self.world.run_until(self.world.now_us + STOP_WITHIN_US)

    def _collect(self) -> None:
        """What the databases hold, as `lab.hosts.containers.collect` brings it."""
        origin_ms = self.world.origin_ms
        for name, server in self.servers.items():
            if not isinstance(server, SimulatedServer):
                continue
            self.record.exit_codes[name] = server.exit_code or 0
            if server.crashes:
                self.record.crashes[name] = server.crashes
            if server.is_lost or server.config.me.role == "frontend":
                continue  # it keeps nothing, or nothing is left of it
            queues = self.record.file(f"logs/{name}/queues.jsonl")
            if server.disk.queue_connection is not None:
                queues += _lines(queue_rows_in(server.disk.queue_connection, origin_ms))
            copies = self.record.file(f"logs/{name}/copies.jsonl")
            for _, mailbox in sorted(server.disk.mailboxes.items()):
                copies += _lines(copy_rows_in(mailbox.connection, origin_ms))
        for database in sorted(each.name for each in self.plan.topology.databases):
            self._collect_mailboxes(database)

    def _collect_mailboxes(self, database: str) -> None:
        """Of the copy that recipients see; nothing, where no server has made one yet."""
        disks = [each.disk for each in self.servers.values() if isinstance(each, SimulatedServer)]
        opened = [
            disk.mailboxes[database].connection for disk in disks if database in disk.mailboxes
        ]
        copies = {copy.server: (copy, each) for each in opened for copy in _standing(each)}
        shown = shown_to_users(copy for copy, _ in copies.values())
        file = f"mailboxes/{database}.jsonl"
        if shown is not None:
            rows = mailbox_rows_in(copies[shown][1], self.world.origin_ms, self._moved())
            self.record.file(file).extend(_lines(rows))
        elif not copies:
            self.record.file(file)

    def _moved(self) -> dict[str, str]:
        """Mailboxes by what Active Directory has, which all servers read alike."""
        servers = (each for each in self.servers.values() if isinstance(each, SimulatedServer))
        read = next((each.directory for each in servers if each.directory is not None), None)
        return {each.address: each.database for each in read.mailboxes} if read else {}


def _standing(database: sqlite3.Connection) -> list[MailboxFile]:
    """Nothing, where a power loss has left nothing that can be read."""
    try:
        return [standing_in(database)]
    except sqlite3.DatabaseError:
        return []


def _lines(rows: Iterable[Row]) -> list[str]:
    """As far as they can be read."""
    lines: list[str] = []
    with suppress(sqlite3.DatabaseError):
        lines.extend(map(_line, rows))
    return lines


class JsonText:
    """Rows as lines of JSON, like `lab.record.folder.JsonLines`, in memory."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def append(self, row: Mapping[str, object]) -> None:
        self._lines.append(_line(row))


def _line(row: Mapping[str, object] | Row) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
