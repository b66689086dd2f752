"""Exchange's parameters, each with a value that is drawn, or left as it is."""

from __future__ import annotations

from collections.abc import Sequence

from tests.lab.drawn_scenarios.chance import Chance, Choices, Section, without_empty
from tests.lab.drawn_scenarios.organisation import Organisation

TRANSPORT_CONFIG: Choices = {
    "ShadowRedundancyEnabled": (True, True, True, True, True, False),
    "RejectMessageOnShadowFailure": (False, True),
    "ShadowMessagePreferenceSetting": ("PreferRemote", "LocalOnly", "RemoteOnly"),
    "MaxRetriesForRemoteSiteShadow": (1, 4, 20),
    "MaxRetriesForLocalSiteShadow": (0, 1, 2, 20),
    "ShadowHeartbeatFrequency": ("10s", "30s", "1m", "3m", "5m"),
    "ShadowResubmitTimeSpan": ("1m", "5m", "15m", "45m", "3h", "1d"),
    "ShadowMessageAutoDiscardInterval": ("5m", "10m", "1h", "2d", "90d"),
    "SafetyNetHoldTime": ("2m", "8m", "30m", "2d", "7d"),
    "MaxReceiveSize": ("10240KB", "32KB", "4KB"),
    "ByteEncoderTypeFor7BitCharsets": ("Use7Bit", "UseQP", "UseBase64"),
}
TRANSPORT_SERVICE: Choices = {
    "MessageExpirationTimeout": ("5m", "20m", "2d"),
    "DelayNotificationTimeout": ("2m", "10m", "4h"),
    "QueueGlitchRetryCount": (0, 1, 4, 15),
    "QueueGlitchRetryInterval": ("2s", "30s", "5m"),
    "TransientFailureRetryCount": (0, 2, 6, 15),
    "TransientFailureRetryInterval": ("5s", "1m", "5m"),
    "OutboundConnectionFailureRetryInterval": ("10s", "2m", "10m"),
    "IntraOrgConnectorSmtpMaxMessagesPerConnection": (0, 1, 2, 20),
    "MaxPerDomainOutboundConnections": (1, 2, 20, "unlimited"),
    "DiscardNotificationsPerAnswer": (1, 3, 200),
    "PromotionPageSize": (1, 5, 50, 1000),
    "SafetyNetPageSize": (1, 5, 50, 1000),
}
RECEIVE_CONNECTOR: Sequence[Section] = (
    {},
    {"ConnectionTimeout": "1h", "ConnectionInactivityTimeout": "30m"},
    {"ConnectionTimeout": "2m", "ConnectionInactivityTimeout": "30s"},
    {"ConnectionTimeout": "10m", "ConnectionInactivityTimeout": "1m"},
)
SEND_CONNECTOR: Choices = {"ConnectionInactivityTimeOut": ("20s", "1m", "3m", "10m")}
MAILBOX_DATABASE: Choices = {
    "Track Duplicates": ("10s", "5m", "1h", "7d", "30d"),
    "Background Cleanup": ("20s", "5m", "1h"),
}


def draw_settings(chance: Chance, organisation: Organisation) -> Section:
    """As a scenario file has them."""
    share = chance.one(0.1, 0.3, 0.6)
    config = chance.some(TRANSPORT_CONFIG, share)
    _fit_preference(config)
    drawn = {
        "TransportConfig": config,
        "TransportService": chance.some(TRANSPORT_SERVICE, share),
        "ReceiveConnector": chance.one(*RECEIVE_CONNECTOR),
        "SendConnector": chance.some(SEND_CONNECTOR, share),
        "MailboxDatabase": chance.some(MAILBOX_DATABASE, share),
        "servers": _of_a_server(chance, organisation) if chance.happens(0.3) else {},
    }
    return without_empty(drawn)


def _of_a_server(chance: Chance, organisation: Organisation) -> Section:
    drawn = {
        "TransportService": chance.some(TRANSPORT_SERVICE, 0.2) or {"QueueGlitchRetryCount": 1},
        "ReceiveConnector": chance.one(*RECEIVE_CONNECTOR),
        "SendConnector": chance.some(SEND_CONNECTOR, 0.3),
    }
    return {chance.one(*organisation.servers): without_empty(drawn)}


def _fit_preference(config: Section) -> None:
    """What would contradict ShadowMessagePreferenceSetting (SR-13) is set right."""
    preference = config.get("ShadowMessagePreferenceSetting", "PreferRemote")
    if preference == "LocalOnly":
        config["MaxRetriesForRemoteSiteShadow"] = 0
    if preference == "RemoteOnly":
        config.pop("MaxRetriesForLocalSiteShadow", None)
