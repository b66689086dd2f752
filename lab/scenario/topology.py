"""A topology as a person writes it: sites, servers, DAGs, databases, mailboxes, groups; and as
planned.

The models hold the shape of the file only; whether its names fit together is asked in
`lab.validation.topology`. What is promised and this version does not build is listed in
`lab.validation.not_built`, so that a message says so instead of calling a key unknown.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from lab.plan.topology import (
    OF_ROLE,
    AutoActivation,
    Dag,
    Database,
    DatabaseCopy,
    Group,
    Mailbox,
    MountDial,
    PlanTopology,
    Role,
    SendConnector,
    Server,
    Site,
    SiteLink,
)
from lab.scenario.patterns import DagName, DatabaseName, DomainName, ServerName, Slug
from lab.scenario.quantities import Instant, Size, Version
from lab.scenario.settings import DELIVERED_TO, Cleanup, DeliveredTo, Window
from lab.scenario.strict import Strict
from nodes.core.config.error import ConfigurationError

ACCEPTED_DOMAIN = "shadowlab.example"
# each server has a network of its own, and a run carves 32 of them out of one /24
SERVERS_MAX = 31
MAILBOXES_MAX = 9_999
MAILBOXES_IN_ALL_MAX = 10_000
SITES_MAX = 64
DATABASES_MAX = 100
COST, COST_MAX = 100, 99_999
GROUPS_MAX = 100
MEMBERS_MAX = 10_000
MEMBERS_IN_ALL_MAX = 20_000
SITE_LINKS_MAX = SITES_MAX * (SITES_MAX - 1) // 2

# what stands beside the servers on the engine, in an inventory of Ansible's and in a run folder
RESERVED_NAMES = (
    *("workload", "toxiproxy", "lab", "site", "server", "authority", "ground"),
    *("all", "ungrouped", "localhost"),
)


class SiteModel(Strict):
    """An Active Directory site."""

    outside: bool = Field(default=False, description="where servers of other organisations stand")
    hub: bool = Field(default=False, description="whether mail stops there that passes it")

    @model_validator(mode="after")
    def _is_inside(self) -> "SiteModel":
        if self.hub and self.outside:
            raise ConfigurationError("a site outside is no hub site", "remove hub:")
        return self


class SiteLinkModel(Strict):
    """An IP site link between two sites."""

    between: list[Slug] = Field(
        min_length=2, max_length=2, description="the two sites that it joins"
    )
    cost: int = Field(default=COST, ge=1, le=COST_MAX, description="the cost of the link")
    ExchangeCost: int | None = Field(
        default=None, ge=1, le=COST_MAX, description="overrides the cost, for mail alone"
    )
    MaxMessageSize: Size | None = Field(
        default=None, description="a larger message does not go over it; it is given up"
    )


class SendConnectorModel(Strict):
    """Servers by which mail for a server outside leaves; without one each mailbox server sends."""

    to: ServerName = Field(description="the external server that it leads to")
    source: list[ServerName] = Field(
        min_length=1, description="the mailbox servers that send over it"
    )
    cost: int = Field(default=1, ge=1, le=COST_MAX, description="added to the cost of the path")
    MaxMessageSize: Size | None = Field(
        default=None, description="a larger message takes another connector"
    )


class ServerModel(Strict):
    """A server: a mailbox server or a front end of this organisation, or an external one."""

    role: Literal["mailbox", "frontend", "external"] = Field(description="what the server is")
    site: Slug = Field(description="the site that it stands in")
    dag: str | None = Field(
        default=None, description="the DAG that a mailbox server is a member of"
    )
    domain: DomainName | None = Field(default=None, description="the domain of an external server")
    DatabaseCopyAutoActivationPolicy: AutoActivation = Field(
        default="Unrestricted", description="whether Active Manager may choose its copies by itself"
    )
    AutoDatabaseMountDial: MountDial = Field(
        default="GoodAvailability",
        description="how many logs a copy there may lack that is mounted without being asked for",
    )

    @model_validator(mode="after")
    def _fits_its_role(self) -> "ServerModel":
        if self.role == "external" and self.domain is None:
            raise ConfigurationError("an external server needs a domain", "add domain: to it")
        if self.role != "external" and self.domain is not None:
            raise ConfigurationError("only an external server has a domain", "remove domain:")
        who = {"external": "an external server", "frontend": "a front end"}.get(self.role)
        if who is not None and self.dag is not None:
            raise ConfigurationError(f"{who} is in no DAG", "remove dag:")
        of_copies = {"DatabaseCopyAutoActivationPolicy", "AutoDatabaseMountDial"}
        if who is not None and (named := of_copies & self.model_fields_set):
            raise ConfigurationError(f"{who} holds no copies", f"remove {min(named)}")
        return self


class ActiveManagerModel(Strict):
    """The service that decides which copy of a mailbox database is active."""

    name: ServerName = Field(description="its name")
    site: Slug = Field(description="the site that it stands in")


class DagModel(Strict):
    """A database availability group; its members name it."""

    active_manager: ActiveManagerModel | None = Field(
        default=None, description="who decides over copies; needed where a database has several"
    )


class CopyModel(Strict):
    """A copy of a mailbox database."""

    server: str = Field(description="the mailbox server that holds the copy")
    ReplayLagTime: Instant = Field(
        default=0, description="how far the copy replays behind, 14d at the most"
    )


def _as_copy(raw: object) -> object:
    return {"server": raw} if isinstance(raw, str) else raw


class OrName:
    """In a JSON Schema: the model, or its name alone."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(core)]}


Copy = Annotated[CopyModel, BeforeValidator(_as_copy), OrName()]


class DatabaseModel(Strict):
    """A mailbox database."""

    copies: list[Copy] = Field(
        min_length=1, description="in order of activation preference; the first is active"
    )
    track_duplicates_ms: Window | None = Field(
        default=None,
        alias="Track Duplicates",
        description="how long it knows what it took; by default that of settings.MailboxDatabase",
    )
    background_cleanup_ms: Cleanup | None = Field(
        default=None,
        alias="Background Cleanup",
        description="how often what it knows no more is removed; by default likewise",
    )
    journal: str | None = Field(
        default=None,
        description="the mailbox that gets a report of each message that it gets or sends",
    )


class GroupModel(Strict):
    """A distribution group."""

    members: list[str] = Field(
        max_length=MEMBERS_MAX,
        description="`database DB1`, `group sales`, or addresses of mailboxes and of outside users",
    )
    expansion_server: ServerName | None = Field(
        default=None, description="the mailbox server that alone expands it; by default any does"
    )


class TopologyModel(Strict):
    """A topology file."""

    version: Version = Field(default=1, description="the version of this grammar")
    topology: Slug = Field(default="inline", description="its name, the file's stem")
    sites: dict[Slug, SiteModel] = Field(
        min_length=1, max_length=SITES_MAX, description="Active Directory sites"
    )
    site_links: list[SiteLinkModel] = Field(
        default_factory=list, max_length=SITE_LINKS_MAX, description="IP site links"
    )
    send_connectors: dict[Slug, SendConnectorModel] = Field(
        default_factory=dict, max_length=SERVERS_MAX, description="Send connectors, by name"
    )
    servers: dict[ServerName, ServerModel] = Field(
        min_length=1, max_length=SERVERS_MAX, description="the servers, by name"
    )
    dags: dict[DagName, DagModel] = Field(
        default_factory=dict, max_length=SERVERS_MAX, description="DAGs, by name"
    )
    databases: dict[DatabaseName, DatabaseModel] = Field(
        default_factory=dict, max_length=DATABASES_MAX, description="mailbox databases, by name"
    )
    mailboxes: dict[str, Annotated[int, Field(ge=1, le=MAILBOXES_MAX)]] = Field(
        default_factory=dict, description="how many mailboxes each database holds"
    )
    public_folders: dict[str, Annotated[int, Field(ge=1, le=MAILBOXES_MAX)]] = Field(
        default_factory=dict, description="how many public folder mailboxes each database holds"
    )
    groups: dict[Slug, GroupModel] = Field(
        default_factory=dict, max_length=GROUPS_MAX, description="distribution groups, by name"
    )


def resolve_topology(model: TopologyModel, common: DeliveredTo = DELIVERED_TO) -> PlanTopology:
    """The topology of a plan, with every name written out, in the order of the file; `common` holds
    for databases with nothing of their own.
    """
    mailboxes = tuple(_mailboxes(model))
    return PlanTopology(
        name=model.topology,
        accepted_domain=ACCEPTED_DOMAIN,
        sites=tuple(Site(name, site.outside, site.hub) for name, site in model.sites.items()),
        site_links=tuple(_site_link(link) for link in model.site_links),
        servers=(*(_server(*each) for each in model.servers.items()), *_active_managers(model)),
        dags=tuple(Dag(name, _members(model, name)) for name in model.dags),
        databases=tuple(_database(*each, common) for each in model.databases.items()),
        mailboxes=mailboxes,
        send_connectors=tuple(_connector(*each) for each in model.send_connectors.items()),
        groups=tuple(
            Group(
                name,
                group_address(name),
                members_of(group.members, mailboxes),
                group.expansion_server,
            )
            for name, group in model.groups.items()
        ),
    )


def group_address(group: str) -> str:
    """The address of a distribution group."""
    return f"{group}@{ACCEPTED_DOMAIN}"


def members_of(words: Iterable[str], mailboxes: Iterable[Mailbox]) -> tuple[str, ...]:
    """The addresses that members stand for, each once, as `database DB1`, `group sales` or
    addresses.
    """
    by_database: dict[str, list[str]] = {}
    for mailbox in mailboxes:
        by_database.setdefault(mailbox.database, []).append(mailbox.address)
    found: dict[str, None] = {}
    for word in words:
        noun, _, name = word.rpartition(" ")
        if noun == "database":
            found |= dict.fromkeys(by_database.get(name, ()))
        else:
            found[group_address(name) if noun == "group" else name.lower()] = None
    return tuple(found)


USER, FOLDERS = "user", "folders"


def mailbox_addresses(database: str, count: int, what: str = USER) -> list[str]:
    """The addresses of a database's mailboxes: `db1-user01@…` and on, of its public folder
    mailboxes `db1-folders01@…` and on.
    """
    width = max(2, len(str(count)))
    return [
        f"{database.lower()}-{what}{number:0{width}d}@{ACCEPTED_DOMAIN}"
        for number in range(1, count + 1)
    ]


def _site_link(link: SiteLinkModel) -> SiteLink:
    one, other = link.between
    return SiteLink((one, other), link.cost, link.ExchangeCost, link.MaxMessageSize)


def _connector(name: str, connector: SendConnectorModel) -> SendConnector:
    return SendConnector(
        name, connector.to, tuple(connector.source), connector.cost, connector.MaxMessageSize
    )


def _server(name: str, server: ServerModel) -> Server:
    fqdn = f"{name}.{ACCEPTED_DOMAIN}"
    policy = server.DatabaseCopyAutoActivationPolicy
    return Server(
        name, fqdn, server.role, server.site, server.dag, server.domain, policy,
        server.AutoDatabaseMountDial, evidence=OF_ROLE[server.role],
    )  # fmt: skip


def _active_managers(model: TopologyModel) -> list[Server]:
    found = [(dag, group.active_manager) for dag, group in model.dags.items()]
    role: Role = "active_manager"
    return [
        Server(
            each.name,
            f"{each.name}.{ACCEPTED_DOMAIN}",
            role,
            each.site,
            dag,
            None,
            evidence=OF_ROLE[role],
        )
        for dag, each in found
        if each is not None
    ]


def _members(model: TopologyModel, dag: str) -> tuple[str, ...]:
    return tuple(name for name, server in model.servers.items() if server.dag == dag)


def _database(name: str, database: DatabaseModel, common: DeliveredTo) -> Database:
    window_ms, cleanup_ms = database.track_duplicates_ms, database.background_cleanup_ms
    copies: list[Any] = database.copies
    return Database(
        name,
        tuple(
            DatabaseCopy(copy.server, preference, copy.ReplayLagTime)
            for preference, copy in enumerate(copies, start=1)
        ),
        common.window_ms if window_ms is None else window_ms,
        common.cleanup_ms if cleanup_ms is None else cleanup_ms,
        None if database.journal is None else database.journal.lower(),
    )


def _mailboxes(model: TopologyModel) -> list[Mailbox]:
    kinds = ((model.mailboxes, USER), (model.public_folders, FOLDERS))
    return [
        Mailbox(address, database, what == FOLDERS)
        for counts, what in kinds
        for database, count in counts.items()
        for address in mailbox_addresses(database, count, what)
    ]
