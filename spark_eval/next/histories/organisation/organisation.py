"""Who is there and what is set: servers, mailbox databases and where recipients read their mail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spark_eval.next.histories.faults import Fault
from spark_eval.next.histories.organisation.active_copies import ActiveCopies, active_copies
from spark_eval.next.histories.organisation.database import Database
from spark_eval.next.histories.organisation.server import EXTERNAL, Server
from spark_eval.next.histories.organisation.servers import servers_of
from spark_eval.next.histories.organisation.settings import TransportConfig, transport_config
from spark_eval.next.read.clocks import LabClock
from spark_eval.next.read.record import Record


@dataclass(frozen=True, slots=True)
class Organisation:
    """By name: `servers`, `databases`, and `active_copies` of databases with several. `mailboxes`:
    address to database; `outside`: domain to server; `lagged`, copies with a ReplayLagTime, by
    database and server.
    """

    config: TransportConfig
    servers: Mapping[str, Server]
    databases: Mapping[str, Database]
    mailboxes: Mapping[str, str]
    outside: Mapping[str, str]
    active_copies: Mapping[str, ActiveCopies]
    lagged: frozenset[tuple[str, str]]

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

    def outside_of(self, recipient: str) -> str | None:
        """The server outside where a recipient reads mail; None of anybody else."""
        return None if self.is_inside(recipient) else self.place_of(recipient)


def organisation_of(record: Record, clock: LabClock, faults: Iterable[Fault]) -> Organisation:
    servers = servers_of(record, clock, faults)
    databases = _databases(record, servers)
    several = {each.name: each.copies for each in databases.values() if len(each.copies) > 1}
    return Organisation(
        config=transport_config(record.plan.transport_config),
        servers=servers,
        databases=databases,
        mailboxes={
            each.address.lower(): each.database
            for each in record.plan.topology.mailboxes or ()
            if each.address is not None and each.database is not None
        },
        outside={
            server.domain.lower(): server.name
            for server in servers.values()
            if server.role == EXTERNAL and server.domain
        },
        active_copies=active_copies(several, record.rows.lifecycle),
        lagged=_lagged(record),
    )


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


def _lagged(record: Record) -> frozenset[tuple[str, str]]:
    return frozenset(
        (database.name or "", (copy.server or "").lower())
        for database in record.plan.topology.databases or ()
        for copy in database.copies or ()
        if copy.replay_lag_time_ms
    )
