"""What an organisation and its servers are set to: Exchange's parameters by their own names.

A plan writes every default out; those that this page repeats serve small plans made by hand for the
logs of real servers (F§3.1, F§3.2, F§3.3). Durations are lab milliseconds, sizes bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spark_eval.read.csv_rows import integer
from spark_eval.read.plan import DAY_MS, HOUR_MS, MINUTE_MS

UNLIMITED = 2_147_483_647
MIB = 1024 * 1024
_TRUTHS = {"true": True, "false": False}
_ENCODINGS = {"UseQP": "quoted-printable", "UseBase64": "base64"}
# how many logs a copy may lack under each AutoDatabaseMountDial (F§4.2)
_LOGS = {"Lossless": 0, "GoodAvailability": 6, "BestAvailability": 12}


@dataclass(frozen=True, slots=True)
class TransportConfig:
    """Of the organisation. `given`: as its plan has them; `encoding`: the transfer encoding that
    text gets there, None where it keeps what it has; `max_envelope`, MaxRecipientEnvelopeLimit;
    `delay_dsn_…`: whether senders inside and outside hear of delays.
    """

    enabled: bool
    reject: bool
    preference: str
    max_remote: int
    max_local: int
    heartbeat_ms: int
    span_ms: int
    auto_discard_ms: int
    hold_ms: int
    max_bytes: int
    max_sent_bytes: int
    max_envelope: int
    delay_dsn_inside: bool
    delay_dsn_outside: bool
    encoding: str | None
    given: Mapping[str, str]

    @property
    def has_dumpster(self) -> bool:
        """Whether it has settings that Exchange 2010 alone goes by (SN-18)."""
        return "MaxDumpsterTime" in self.given


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Of one server: `preference`, where it has one of its own (SR-3); `timeout_ms` of its Send
    connector, `session_ms` and what follows up to `tarpit_ms` of its Receive connector, the retry
    ladder (RT-5), `put_off_ms`, MessageRetryInterval, `idle_ms`, QueueMaxIdleTime, and what else
    intervals need; `given`: all as its plan has them, by section.
    """

    preference: str | None
    timeout_ms: int
    session_ms: int
    max_hops: int
    max_recipients: int
    max_errors: int
    max_connections: int
    max_of_source: int
    percent_of_source: int
    max_rate: int
    tarpit_ms: int
    glitches: int
    glitch_ms: int
    transients: int
    transient_ms: int
    outage_ms: int
    put_off_ms: int
    idle_ms: int
    max_connection_rate: int
    expiration_ms: int
    delay_ms: int
    max_outbound: int
    max_per_domain: int
    page: int
    window_ms: int
    given: Mapping[str, Mapping[str, str]]

    @property
    def says_put_off(self) -> bool:
        """Whether its plan says for how long a message waits that was put off: editions differ."""
        return "MessageRetryInterval" in (self.given.get("TransportService") or {})


# field, section, parameter, Exchange's default (in ms, or a count)
_SERVER = (
    ("timeout_ms", "SendConnector", "ConnectionInactivityTimeOut", 10 * MINUTE_MS),
    ("session_ms", "ReceiveConnector", "ConnectionTimeout", 10 * MINUTE_MS),
    ("max_hops", "ReceiveConnector", "MaxHopCount", 60),
    ("max_recipients", "ReceiveConnector", "MaxRecipientsPerMessage", 200),
    ("max_errors", "ReceiveConnector", "MaxProtocolErrors", 5),
    ("max_connections", "ReceiveConnector", "MaxInboundConnection", 5000),
    ("max_of_source", "ReceiveConnector", "MaxInboundConnectionPerSource", UNLIMITED),
    ("percent_of_source", "ReceiveConnector", "MaxInboundConnectionPercentagePerSource", 100),
    ("max_rate", "ReceiveConnector", "MessageRateLimit", UNLIMITED),
    ("tarpit_ms", "ReceiveConnector", "TarpitInterval", 5_000),
    ("glitches", "TransportService", "QueueGlitchRetryCount", 4),
    ("glitch_ms", "TransportService", "QueueGlitchRetryInterval", MINUTE_MS),
    ("transients", "TransportService", "TransientFailureRetryCount", 6),
    ("transient_ms", "TransportService", "TransientFailureRetryInterval", 5 * MINUTE_MS),
    ("outage_ms", "TransportService", "OutboundConnectionFailureRetryInterval", 10 * MINUTE_MS),
    # a plan that does not say it is of servers whose messages wait as their queues do
    ("put_off_ms", "TransportService", "MessageRetryInterval", 0),
    ("idle_ms", "TransportService", "QueueMaxIdleTime", 3 * MINUTE_MS),
    ("max_connection_rate", "TransportService", "MaxConnectionRatePerMinute", 1200),
    ("expiration_ms", "TransportService", "MessageExpirationTimeout", 2 * DAY_MS),
    ("delay_ms", "TransportService", "DelayNotificationTimeout", 4 * HOUR_MS),
    ("max_outbound", "TransportService", "MaxOutboundConnections", 1000),
    ("max_per_domain", "TransportService", "MaxPerDomainOutboundConnections", 20),
    ("page", "TransportService", "DiscardNotificationsPerAnswer", 200),
    ("window_ms", "MailboxDatabase", "DuplicateDetectionWindow", 7 * DAY_MS),
)


def transport_config(given: Mapping[str, str]) -> TransportConfig:
    """Of `settings.TransportConfig` of a plan."""
    return TransportConfig(
        enabled=_truth(given, "ShadowRedundancyEnabled", default=True),
        reject=_truth(given, "RejectMessageOnShadowFailure", default=False),
        preference=given.get("ShadowMessagePreferenceSetting") or "PreferRemote",
        max_remote=_number(given, "MaxRetriesForRemoteSiteShadow", 4),
        max_local=_number(given, "MaxRetriesForLocalSiteShadow", 2),
        heartbeat_ms=_number(given, "ShadowHeartbeatFrequency", 2 * MINUTE_MS),
        span_ms=_number(given, "ShadowResubmitTimeSpan", 3 * HOUR_MS),
        auto_discard_ms=_number(given, "ShadowMessageAutoDiscardInterval", 2 * DAY_MS),
        hold_ms=_number(given, "SafetyNetHoldTime", 2 * DAY_MS),
        max_bytes=_number(given, "MaxReceiveSize", 10 * MIB),
        max_sent_bytes=_number(given, "MaxSendSize", 10 * MIB),
        max_envelope=_number(given, "MaxRecipientEnvelopeLimit", 500),
        delay_dsn_inside=_truth(given, "InternalDelayDsnEnabled", default=True),
        delay_dsn_outside=_truth(given, "ExternalDelayDsnEnabled", default=True),
        encoding=_ENCODINGS.get(given.get("ByteEncoderTypeFor7BitCharsets") or ""),
        given=given,
    )


def server_config(sections: Mapping[str, Mapping[str, str]]) -> ServerConfig:
    """Of `settings.servers.<name>` of a plan."""
    known = {
        field: _number(sections.get(section) or {}, parameter, default)
        for field, section, parameter, default in _SERVER
    }
    own = (sections.get("TransportService") or {}).get("ShadowMessagePreference") or None
    return ServerConfig(preference=own, given=sections, **known)


def mount_dial(given: str | None) -> int:
    """How many logs AutoDatabaseMountDial of a server allows a copy to lack."""
    return _LOGS.get(given or "", _LOGS["GoodAvailability"])


def _number(given: Mapping[str, str], name: str, default: int) -> int:
    number = integer(given.get(name))
    return default if number is None else number


def _truth(given: Mapping[str, str], name: str, *, default: bool) -> bool:
    return _TRUTHS.get(str(given.get(name)).lower(), default)
