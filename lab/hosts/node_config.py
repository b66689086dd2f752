"""What a server of a plan learns about itself, its organisation and its parameters.

The document that `nodes.core.config.config.read_config` reads, in Exchange's parameter names;
timespans are text there, as Exchange writes them. Where a node runs (ports, certificates, folders)
is its host's to add.
"""

from collections.abc import Iterable
from typing import TypeAlias

from lab.plan.directory import Directory
from lab.plan.parts import Section
from lab.plan.plan import Plan
from lab.plan.topology import Database, Group, SendConnector, Server, SiteLink
from nodes.core.config.config import NodeConfig, read_config
from nodes.core.config.parameters import (
    BACKGROUND_CLEANUP,
    PARAMETERS,
    TRACK_DUPLICATES,
    Value,
    format_value,
)
from nodes.core.config.units import format_size, format_timespan
from nodes.shell.chaos.places import Breakpoint

Json: TypeAlias = dict[str, object]
LOCAL_ATTEMPTS = "MaxRetriesForLocalSiteShadow"


def node_config(plan: Plan, server: Server) -> NodeConfig:
    """The configuration of a server's core. Raises ConfigurationError for a plan nobody checked."""
    sections = node_settings(plan, server.name)
    return read_config({**identity(server), **organisation(plan), **sections})


def identity(server: Server) -> Json:
    """Who a server is."""
    return {
        "Name": server.name,
        "Fqdn": server.fqdn,
        "Role": server.role,
        "Site": server.site,
        "DatabaseAvailabilityGroup": server.dag,
        "Domain": server.domain,
        "DatabaseCopyAutoActivationPolicy": server.auto_activation,
        "AutoDatabaseMountDial": server.mount_dial,
    }


def organisation(plan: Plan) -> Json:
    """What every server knows of the others: what Active Directory has of them."""
    topology = plan.topology
    return {
        "AcceptedDomain": topology.accepted_domain,
        "Servers": [
            identity(server) | _connectors(plan, server.name) for server in topology.servers
        ],
        "Sites": [
            {"Name": site.name, "HubSiteEnabled": site.hub}
            for site in topology.sites
            if not site.outside
        ],
        "SiteLinks": [_site_link(link) for link in topology.site_links],
        "SendConnectors": [_send_connector(each) for each in topology.send_connectors],
        "Databases": [_database(database) for database in topology.databases],
        "Mailboxes": [
            {"Address": mailbox.address, "Database": mailbox.database}
            for mailbox in topology.mailboxes
        ],
        "DistributionGroups": groups_of(topology.groups),
    }


def groups_of(groups: Iterable[Group]) -> list[Json]:
    """DistributionGroups of a configuration."""
    return [
        {
            "Name": each.name,
            "Address": each.address,
            "Members": list(each.members),
            "ExpansionServer": each.expansion_server,
        }
        for each in groups
    ]


def as_document(directory: Directory) -> Json:
    """What a node's process reads of Active Directory while it runs."""
    return {
        "DistributionGroups": groups_of(directory.groups),
        "Mailboxes": [
            {"Address": each.address, "Database": each.database, "MovesTo": each.moves_to}
            for each in directory.mailboxes
        ],
        "Inactive": list(directory.inactive),
        "NotAuthenticating": list(directory.not_authenticating),
    }


def _connectors(plan: Plan, server: str) -> Json:
    """When a server ends sessions."""
    settings = node_settings(plan, server)
    return {name: settings[name] for name in ("ReceiveConnector",) if name in settings}


def _site_link(link: SiteLink) -> Json:
    return {
        "Sites": list(link.between),
        "Cost": link.cost,
        "ExchangeCost": link.exchange_cost,
        "MaxMessageSize": _size(link.max_message_size_bytes),
    }


def _send_connector(connector: SendConnector) -> Json:
    return {
        "Name": connector.name,
        "SmartHost": connector.to,
        "SourceTransportServers": list(connector.sources),
        "Cost": connector.cost,
        "MaxMessageSize": _size(connector.max_message_size_bytes),
    }


def _size(value_bytes: int | None) -> str | None:
    return None if value_bytes is None else format_size(value_bytes)


def _database(database: Database) -> Json:
    """With its copies where there are several."""
    described: Json = {
        "Name": database.name,
        "Server": database.copies[0].server,
        TRACK_DUPLICATES.name: format_timespan(database.duplicate_detection_window_ms),
        BACKGROUND_CLEANUP.name: format_timespan(database.background_cleanup_ms),
    }
    if database.journal is not None:
        described["JournalRecipient"] = database.journal
    if len(database.copies) > 1:
        described["Copies"] = [
            {
                "Server": copy.server,
                "ActivationPreference": copy.activation_preference,
                "ReplayLagTime": format_timespan(copy.replay_lag_time_ms),
            }
            for copy in database.copies
        ]
    return described


def node_settings(plan: Plan, server: str) -> dict[str, dict[str, Value]]:
    """Section -> parameter -> value as a node's configuration file shows it."""
    sections: dict[str, Section] = {"TransportConfig": plan.settings.TransportConfig}
    sections |= plan.settings.servers.get(server, {})
    return {
        section: {
            name: format_value(PARAMETERS[section][name], value)
            for name, value in values.items()
            if not _is_left_out(name, value)
        }
        for section, values in sections.items()
    }


def breakpoints(plan: Plan, server: str) -> tuple[Breakpoint, ...]:
    """Where the server is to be held, for the faults that start at a place of its."""
    return tuple(
        Breakpoint(fault.id, fault.when.at, fault.when.nth, fault.start_ms, fault.when.until_ms)
        for fault in plan.faults
        if fault.when is not None and fault.when.server == server
    )


def as_settings(breakpoint_: Breakpoint) -> Json:
    """As a node's configuration file shows it."""
    return {
        "Name": breakpoint_.name,
        "At": breakpoint_.at,
        "Nth": breakpoint_.nth,
        "FromMs": breakpoint_.from_ms,
        "UntilMs": breakpoint_.until_ms,
    }


def _is_left_out(name: str, value: Value) -> bool:
    """Every value is written out but two: a preference of its own that a server has not, and local
    attempts at their default, which contradict RemoteOnly where they are named (SR-13).
    """
    default = PARAMETERS["TransportConfig"][LOCAL_ATTEMPTS].default
    return value == "" or (name == LOCAL_ATTEMPTS and value == default)
