"""What the configuration says of a node, its organisation and its parameters: one file, in
Exchange's parameter names.

`read_config` takes the parsed JSON of that file and refuses a wrong one, naming the key, the value
and the rule (SR-13). It reads no file and knows no clock: the shell does both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from nodes.core.config.connector_limits import ConnectorLimits, connector_limits
from nodes.core.config.contradictions import contradictions
from nodes.core.config.databases import (
    DatabaseCopy,
    copies_of,
    journal_recipients,
    of_databases,
)
from nodes.core.config.document import (
    Json,
    choice,
    objects,
    objects_if_any,
    text,
    text_if_any,
)
from nodes.core.config.error import ConfigurationError
from nodes.core.config.groups import GROUPS, DistributionGroup, expansion_servers, group_of
from nodes.core.config.mailboxes import MAILBOXES, mailbox_of
from nodes.core.config.network import Network, read_network
from nodes.core.config.parameters import (
    BACKGROUND_CLEANUP,
    NOT_CONVERTED,
    PARAMETERS,
    SERVER_SECTIONS,
    TRACK_DUPLICATES,
    WAYS,
    Value,
    parse_value,
)

SECTIONS = ("TransportConfig", *SERVER_SECTIONS)
AUTO_ACTIVATION = ("Unrestricted", "IntrasiteOnly", "Blocked")
# whose certificates give them a right to the verbs of servers among themselves (TL-6)
TRUSTED_ROLES = frozenset({"mailbox", "active_manager"})
MOUNT_DIALS = ("GoodAvailability", "BestAvailability", "Lossless")


@dataclass(frozen=True, slots=True)
class ReceiveConnector:
    """When a server ends a session that goes on, and one that is silent (F§3.3)."""

    connection_timeout_ms: int
    inactivity_timeout_ms: int


@dataclass(frozen=True, slots=True)
class Server:
    """A server of the organisation (`role` mailbox, frontend, active_manager) or one outside it
    (`role` external, serving `domain`). `auto_activation` is DatabaseCopyAutoActivationPolicy,
    `mount_dial` AutoDatabaseMountDial; `receive_connector` says when it ends sessions, as every
    server reads in Active Directory.
    """

    name: str
    fqdn: str
    role: str
    site: str
    dag: str | None
    domain: str | None
    receive_connector: ReceiveConnector
    auto_activation: str = "Unrestricted"
    mount_dial: str = "GoodAvailability"


@dataclass(frozen=True, slots=True)
class TransportConfig:
    """Organisation-wide parameters (F§3.1). Times in ms, sizes in bytes."""

    shadow_redundancy_enabled: bool
    reject_message_on_shadow_failure: bool
    shadow_message_preference: str
    max_retries_for_remote_site_shadow: int
    max_retries_for_local_site_shadow: int
    shadow_heartbeat_frequency_ms: int
    shadow_resubmit_time_span_ms: int
    shadow_message_auto_discard_interval_ms: int
    safety_net_hold_time_ms: int
    max_dumpster_size_per_database_bytes: int
    max_dumpster_time_ms: int
    max_receive_size_bytes: int
    max_send_size_bytes: int
    max_recipient_envelope_limit: int
    internal_delay_dsn_enabled: bool
    external_delay_dsn_enabled: bool
    byte_encoder: str

    @property
    def growth(self) -> int:
        """How many times as large as it was received a message may be on its way: a log has it in
        base64, and content conversion may have made three octets of each before.
        """
        return 3 if self.byte_encoder == NOT_CONVERTED else 5


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Of a resource: at which figure its level goes from one to the other (F§6)."""

    low_to_medium: int
    medium_to_high: int
    high_to_medium: int
    medium_to_low: int


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Parameters of this server and its connectors (F§3.2, F§3.3). Times in ms. Each `…_page_size`
    and `discard_notifications_per_answer` is how many are said or done at once.
    `resubmission_queue_length` and `submission_queue` count messages; `database_used_space` is in
    percent of `queue_database_volume_bytes`, 0 where nobody watches it. `shadow_message_preference`
    is its own, or that of the organisation where it has none (SR-3).
    """

    shadow_message_preference: str
    message_expiration_timeout_ms: int
    delay_notification_timeout_ms: int
    queue_glitch_retry_count: int
    queue_glitch_retry_interval_ms: int
    transient_failure_retry_count: int
    transient_failure_retry_interval_ms: int
    outbound_connection_failure_retry_interval_ms: int
    message_retry_interval_ms: int
    queue_max_idle_time_ms: int
    max_connection_rate_per_minute: int
    max_messages_per_connection: int
    max_outbound_connections_per_peer: int
    max_outbound_connections: int
    max_concurrent_mailbox_deliveries: int
    max_concurrent_mailbox_submissions: int
    receive_connection_timeout_ms: int
    receive_inactivity_timeout_ms: int
    limits: ConnectorLimits
    send_inactivity_timeout_ms: int
    discard_notifications_per_answer: int
    promotion_page_size: int
    safety_net_page_size: int
    resubmission_queue_length: int
    queue_database_volume_bytes: int
    resource_monitoring_interval_ms: int
    database_used_space: Thresholds
    submission_queue: Thresholds


@dataclass(frozen=True, slots=True, eq=False)
class NodeConfig:
    """Everything the core may know beforehand. `mailboxes` maps address to database, of a running
    node as Active Directory has it now (`categorizer.mailboxes`); `databases`
    name to the server of the copy that is active at first, `copies` name to all of them,
    `duplicate_windows_ms` name to its duplicate detection window, wherever it is active (DD-2),
    `cleanup_intervals_ms` name to how often each copy removes what is older (DD-5).
    `groups` are the distribution groups as they stand when the node is set up.
    `expansion_servers` map those groups that one server alone expands, by address in lower case, to
    it; members of a group may change, its expansion server does not.
    `journal_recipients` map a journaled database to its journal mailbox, in lower case.
    `settings` are all parameters as they are shown: section, name, value, defaults written out;
    those that Exchange 2010 alone went by too (SN-18).
    """

    me: Server
    accepted_domain: str
    servers: tuple[Server, ...]
    databases: Mapping[str, str]
    mailboxes: Mapping[str, str]
    transport: TransportConfig
    server: ServerConfig
    copies: Mapping[str, tuple[DatabaseCopy, ...]]
    duplicate_windows_ms: Mapping[str, int]
    cleanup_intervals_ms: Mapping[str, int]
    network: Network
    groups: tuple[DistributionGroup, ...] = ()
    expansion_servers: Mapping[str, str] = field(default_factory=dict)
    journal_recipients: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    @property
    def fqdns(self) -> frozenset[str]:
        """Of the servers of the organisation, in lower case."""
        return frozenset(each.fqdn.lower() for each in self.servers if each.role != "external")

    def server_named(self, name: str) -> Server | None:
        return next((server for server in self.servers if server.name == name), None)


def read_config(document: Json) -> NodeConfig:
    """NodeConfig of a node configuration file's JSON object; raises ConfigurationError."""
    values = {section: _section(document, section) for section in SECTIONS}
    _refuse_contradictions(document, values)
    servers = tuple(_server(entry) for entry in objects(document, "Servers"))
    name = text(document, "Name")
    me = next((server for server in servers if server.name == name), None)
    if me is None:
        raise ConfigurationError(
            f"Name: {name}: not among Servers", f"Servers are {_names(servers)}"
        )
    return NodeConfig(
        me=me,
        accepted_domain=text(document, "AcceptedDomain"),
        servers=servers,
        databases={text(e, "Name"): text(e, "Server") for e in objects(document, "Databases")},
        mailboxes={
            each.address: each.database for each in map(mailbox_of, objects(document, MAILBOXES))
        },
        transport=_transport_config(values["TransportConfig"]),
        server=_server_config(values),
        copies={text(e, "Name"): copies_of(e) for e in objects(document, "Databases")},
        duplicate_windows_ms=of_databases(document, TRACK_DUPLICATES),
        cleanup_intervals_ms=of_databases(document, BACKGROUND_CLEANUP),
        network=read_network(document),
        groups=tuple(map(group_of, objects_if_any(document, GROUPS))),
        expansion_servers=expansion_servers(
            objects_if_any(document, GROUPS), [s.name for s in servers if s.role == "mailbox"]
        ),
        journal_recipients=journal_recipients(document),
        settings=values,
    )


def _names(servers: tuple[Server, ...]) -> str:
    return ", ".join(server.name for server in servers)


def _section(document: Json, section: str) -> dict[str, Value]:
    given = document.get(section, {})
    if not isinstance(given, dict):
        raise ConfigurationError(f"{section}: {given!r}: must be an object", "")
    known = PARAMETERS[section]
    for name in given:
        if name not in known:
            raise ConfigurationError(
                f"{section}.{name}: no such parameter", f"{section} has {', '.join(sorted(known))}"
            )
    return {
        name: parse_value(parameter, given[name]) if name in given else parameter.default
        for name, parameter in known.items()
    }


def _refuse_contradictions(document: Json, values: dict[str, dict[str, Value]]) -> None:
    given = {
        (section, name) for section in SECTIONS for name in cast("Json", document.get(section, {}))
    }
    own = {section: values[section] for section in SERVER_SECTIONS}
    found = contradictions(values["TransportConfig"], {text(document, "Name"): own}, given)
    if found:
        raise ConfigurationError(found[0].message, found[0].hint)


def _transport_config(values: Mapping[str, Value]) -> TransportConfig:
    return TransportConfig(
        shadow_redundancy_enabled=bool(values["ShadowRedundancyEnabled"]),
        reject_message_on_shadow_failure=bool(values["RejectMessageOnShadowFailure"]),
        shadow_message_preference=str(values["ShadowMessagePreferenceSetting"]),
        max_retries_for_remote_site_shadow=int(values["MaxRetriesForRemoteSiteShadow"]),
        max_retries_for_local_site_shadow=int(values["MaxRetriesForLocalSiteShadow"]),
        shadow_heartbeat_frequency_ms=int(values["ShadowHeartbeatFrequency"]),
        shadow_resubmit_time_span_ms=int(values["ShadowResubmitTimeSpan"]),
        shadow_message_auto_discard_interval_ms=int(values["ShadowMessageAutoDiscardInterval"]),
        safety_net_hold_time_ms=int(values["SafetyNetHoldTime"]),
        max_dumpster_size_per_database_bytes=int(values["MaxDumpsterSizePerDatabase"]),
        max_dumpster_time_ms=int(values["MaxDumpsterTime"]),
        max_receive_size_bytes=int(values["MaxReceiveSize"]),
        max_send_size_bytes=int(values["MaxSendSize"]),
        max_recipient_envelope_limit=int(values["MaxRecipientEnvelopeLimit"]),
        internal_delay_dsn_enabled=bool(values["InternalDelayDsnEnabled"]),
        external_delay_dsn_enabled=bool(values["ExternalDelayDsnEnabled"]),
        byte_encoder=str(values["ByteEncoderTypeFor7BitCharsets"]),
    )


def _server_config(values: Mapping[str, Mapping[str, Value]]) -> ServerConfig:
    service = values["TransportService"]
    receive, send = values["ReceiveConnector"], values["SendConnector"]
    of_all = values["TransportConfig"]["ShadowMessagePreferenceSetting"]
    return ServerConfig(
        shadow_message_preference=str(service["ShadowMessagePreference"] or of_all),
        message_expiration_timeout_ms=int(service["MessageExpirationTimeout"]),
        delay_notification_timeout_ms=int(service["DelayNotificationTimeout"]),
        queue_glitch_retry_count=int(service["QueueGlitchRetryCount"]),
        queue_glitch_retry_interval_ms=int(service["QueueGlitchRetryInterval"]),
        transient_failure_retry_count=int(service["TransientFailureRetryCount"]),
        transient_failure_retry_interval_ms=int(service["TransientFailureRetryInterval"]),
        outbound_connection_failure_retry_interval_ms=int(
            service["OutboundConnectionFailureRetryInterval"]
        ),
        message_retry_interval_ms=int(service["MessageRetryInterval"]),
        queue_max_idle_time_ms=int(service["QueueMaxIdleTime"]),
        max_connection_rate_per_minute=int(service["MaxConnectionRatePerMinute"]),
        max_messages_per_connection=int(service["IntraOrgConnectorSmtpMaxMessagesPerConnection"]),
        max_outbound_connections_per_peer=int(service["MaxPerDomainOutboundConnections"]),
        max_outbound_connections=int(service["MaxOutboundConnections"]),
        max_concurrent_mailbox_deliveries=int(service["MaxConcurrentMailboxDeliveries"]),
        max_concurrent_mailbox_submissions=int(service["MaxConcurrentMailboxSubmissions"]),
        receive_connection_timeout_ms=int(receive["ConnectionTimeout"]),
        receive_inactivity_timeout_ms=int(receive["ConnectionInactivityTimeout"]),
        limits=connector_limits(receive),
        send_inactivity_timeout_ms=int(send["ConnectionInactivityTimeOut"]),
        discard_notifications_per_answer=int(service["DiscardNotificationsPerAnswer"]),
        promotion_page_size=int(service["PromotionPageSize"]),
        safety_net_page_size=int(service["SafetyNetPageSize"]),
        resubmission_queue_length=int(service["ResubmissionQueueLength"]),
        queue_database_volume_bytes=int(service["QueueDatabaseVolumeSize"]),
        resource_monitoring_interval_ms=int(service["ResourceMonitoringInterval"]),
        database_used_space=_thresholds("DatabaseUsedSpace", service),
        submission_queue=_thresholds("SubmissionQueue", service),
    )


def _thresholds(resource: str, service: Mapping[str, Value]) -> Thresholds:
    return Thresholds(*(int(service[f"{resource}{way}"]) for way in WAYS))


def _server(entry: Json) -> Server:
    return Server(
        name=text(entry, "Name"),
        fqdn=text(entry, "Fqdn"),
        role=text(entry, "Role"),
        site=text(entry, "Site"),
        dag=text_if_any(entry, "DatabaseAvailabilityGroup"),
        domain=text_if_any(entry, "Domain"),
        receive_connector=_receive_connector(_section(entry, "ReceiveConnector")),
        auto_activation=choice(entry, "DatabaseCopyAutoActivationPolicy", AUTO_ACTIVATION),
        mount_dial=choice(entry, "AutoDatabaseMountDial", MOUNT_DIALS),
    )


def _receive_connector(values: Mapping[str, Value]) -> ReceiveConnector:
    return ReceiveConnector(
        int(values["ConnectionTimeout"]), int(values["ConnectionInactivityTimeout"])
    )
