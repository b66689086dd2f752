"""Who is there and who can reach whom: the values of a plan's topology, with the field names of
plan.json.

`source` and `target` are `from` and `to` in the file.
"""

from dataclasses import dataclass
from typing import Literal, get_args

AutoActivation = Literal["Unrestricted", "IntrasiteOnly", "Blocked"]
MountDial = Literal["GoodAvailability", "BestAvailability", "Lossless"]
Role = Literal["mailbox", "frontend", "external", "active_manager"]
Evidence = Literal[
    "ledger", "mailboxes", "tracking", "exact-tracking", "connectivity", "lifecycle", "queues",
    "copies", "common-clock",
]  # fmt: skip
OF_ROLE: dict[Role, tuple[Evidence, ...]] = {
    "mailbox": get_args(Evidence),
    "frontend": ("ledger", "connectivity", "lifecycle", "common-clock"),
    "external": ("mailboxes", "common-clock"),
    "active_manager": ("connectivity", "lifecycle", "queues", "copies", "common-clock"),
}
"""What the records of the project's own nodes can show."""


@dataclass(frozen=True, slots=True)
class Site:
    """An Active Directory site; `outside` is where servers of other organisations stand. At a `hub`
    site mail stops that passes it."""

    name: str
    outside: bool
    hub: bool = False


@dataclass(frozen=True, slots=True)
class SiteLink:
    """An IP site link; an Exchange cost overrides its cost."""

    between: tuple[str, str]
    cost: int
    exchange_cost: int | None = None
    max_message_size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class SendConnector:
    """Mail for `to`, a server outside, leaves by `sources`."""

    name: str
    to: str
    sources: tuple[str, ...]
    cost: int
    max_message_size_bytes: int | None


@dataclass(frozen=True, slots=True)
class Server:
    """A server; `dag` for members of one, `domain` for external servers.

    `auto_activation` is DatabaseCopyAutoActivationPolicy of a mailbox server, `mount_dial` its
    AutoDatabaseMountDial. `evidence`: what its record can show; None where nobody says it.
    """

    name: str
    fqdn: str
    role: Role
    site: str
    dag: str | None
    domain: str | None
    auto_activation: AutoActivation = "Unrestricted"
    mount_dial: MountDial = "GoodAvailability"
    evidence: tuple[Evidence, ...] | None = None


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


HOUR_MS = 3_600_000
WEEK_MS = 7 * 24 * HOUR_MS


@dataclass(frozen=True, slots=True)
class Database:
    """A mailbox database and its copies, in order of activation preference.

    `duplicate_detection_window_ms` is the same wherever it is active (DD-2); each copy cleans up
    every `background_cleanup_ms` (DD-5). `journal`: the mailbox that gets its journal reports.
    """

    name: str
    copies: tuple[DatabaseCopy, ...]
    duplicate_detection_window_ms: int = WEEK_MS
    background_cleanup_ms: int = HOUR_MS
    journal: str | None = None


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A mailbox and the database that holds it; `public_folder`: it is one of public folders."""

    address: str
    database: str
    public_folder: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A distribution group: its members by address, groups among them (TP-5); `expansion_server`:
    the mailbox server that alone expands it, None where whoever answers for a message does (RT-3).
    """

    name: str
    address: str
    members: tuple[str, ...]
    expansion_server: str | None = None


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
    send_connectors: tuple[SendConnector, ...] = ()
    groups: tuple[Group, ...] = ()

    def databases_on(self, server: str) -> tuple[str, ...]:
        """Those of which the server has a copy."""
        return tuple(
            database.name
            for database in self.databases
            if any(copy.server == server for copy in database.copies)
        )

    def database_of(self, address: str) -> str | None:
        """The mailbox database that a mailbox is in at first."""
        return next((each.database for each in self.mailboxes if each.address == address), None)


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
