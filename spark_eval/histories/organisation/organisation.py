"""Who is there and what is set: servers, mailbox databases and where recipients read their mail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spark_eval.histories.faults import Fault
from spark_eval.histories.organisation.active_copies import ActiveCopies, active_copies
from spark_eval.histories.organisation.database import Database
from spark_eval.histories.organisation.directory import Directory, directory_of, homes_of
from spark_eval.histories.organisation.evidence import of_unplanned
from spark_eval.histories.organisation.groups import Groups, groups_of
from spark_eval.histories.organisation.moves import moves_of
from spark_eval.histories.organisation.network import network_of
from spark_eval.histories.organisation.routing import Routing
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.organisation.servers import servers_of
from spark_eval.histories.organisation.settings import TransportConfig, transport_config
from spark_eval.histories.organisation.software import Software, software
from spark_eval.read.logs import Logs
from spark_eval.read.plan import Evidence
from spark_eval.read.record import Record


@dataclass(frozen=True, slots=True)
class Organisation:
    """By name: `servers`, `databases`, and `active_copies` of databases with several. `lagged`,
    the ReplayLagTime in ms of copies that have one, by database and server; `unplanned`, what a
    server can show that the plan does not have; `groups`, and how they changed.
    """

    config: TransportConfig
    software: Software
    servers: Mapping[str, Server]
    databases: Mapping[str, Database]
    directory: Directory
    active_copies: Mapping[str, ActiveCopies]
    lagged: Mapping[tuple[str, str], int]
    unplanned: frozenset[Evidence]
    routing: Routing
    groups: Groups

    def behind(self, called: str) -> tuple[str, ...]:
        """Who may answer to a client that called that server: itself, and of a front end the
        mailbox servers of its site (TP-7).
        """
        server = self.servers.get(called)
        if server is None or not server.is_front_end:
            return (called,)
        near = (s for s in self.servers.values() if s.is_mailbox and s.site == server.site)
        return (called, *(each.name for each in near))

    def shows(self, server: str | None, needs: frozenset[Evidence]) -> bool:
        """Whether the record of that server can show all of it; where it is None, of each mailbox
        server.
        """
        if server is None:
            mailboxes = [each for each in self.servers.values() if each.is_mailbox]
            known = [each.evidence for each in mailboxes] or [self.unplanned]
        else:
            known = [self.servers[server].evidence if server in self.servers else self.unplanned]
        return all(needs <= evidence for evidence in known)


def organisation_of(record: Record, logs: Logs, faults: Iterable[Fault]) -> Organisation:
    plan, servers = record.heading.plan, servers_of(record, logs, faults)
    databases = _databases(record, servers)
    several = {each.name: each.copies for each in databases.values() if len(each.copies) > 1}
    rows = record.rows
    moves = moves_of(homes_of(plan.topology), plan.operations, rows.operations, rows.lifecycle)
    directory = directory_of(plan.topology, moves)
    groups = groups_of(plan.topology.groups or (), plan.operations, rows.operations)
    network = network_of(plan.topology)
    return Organisation(
        config=transport_config(plan.transport_config),
        software=software(plan.software),
        servers=servers,
        databases=databases,
        directory=directory,
        active_copies=active_copies(several, record.rows.lifecycle),
        lagged=_lagged(record),
        unplanned=of_unplanned("", record),
        routing=Routing(servers, databases, directory, network, groups.servers),
        groups=groups,
    )


def _databases(record: Record, servers: Mapping[str, Server]) -> dict[str, Database]:
    found = {}
    for each in record.heading.plan.topology.databases or ():
        copies = tuple((copy.server or "").lower() for copy in each.copies or ())
        preferences = tuple(copy.activation_preference for copy in each.copies or ())
        window_ms = each.duplicate_detection_window_ms
        if window_ms is None and copies and copies[0] in servers:
            # plans of before, and those made by hand, give servers the window
            window_ms = servers[copies[0]].config.window_ms
        if each.name is not None:
            journal = each.journal.lower() if each.journal else None
            found[each.name] = Database(
                each.name, copies, preferences, window_ms, each.background_cleanup_ms, journal
            )
    return found


def _lagged(record: Record) -> dict[tuple[str, str], int]:
    return {
        (database.name or "", (copy.server or "").lower()): copy.replay_lag_time_ms
        for database in record.heading.plan.topology.databases or ()
        for copy in database.copies or ()
        if copy.replay_lag_time_ms
    }
