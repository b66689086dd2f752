"""Exchange's own parameters: names, kinds, defaults and ranges.

One table serves the node (which refuses a wrong configuration) and the lab (which refuses a
wrong scenario), so both say the same of the same mistake. Timespans are integer milliseconds
once read, and Exchange's `[d.]hh:mm:ss` when written. Nothing here decides what a parameter
does; nothing here knows a file, a place in it, or a server's name beyond the key it came under.

Sources: F§3.1 (organisation), F§3.2 (server), F§3.3 (connectors), DD-2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from nodes.core.config.error import ConfigurationError, refusal, suggestion
from nodes.core.config.units import (
    DAY_MS,
    HOUR_MS,
    KIB,
    MIB,
    MINUTE_MS,
    SECOND_MS,
    format_size,
    format_timespan,
    parse_size,
    parse_timespan,
)

Kind = Literal["bool", "int", "timespan", "size", "choice"]
Value: TypeAlias = bool | int | str

INT_MAX = 2_147_483_647
REPLAY_LAG_MAX_MS = 14 * DAY_MS  # of a copy, not a parameter of these sections (F§3.4)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `default`, `low` and `high` in milliseconds where the kind is timespan, in
    bytes where it is size.

    `choices` are the words a choice takes; for an int they are words that stand for `high`.
    `limit` and `beyond`: a value over `limit` counts as `beyond` (DD-2), it is no mistake.
    `presets`: values that have a name, such as what an older Exchange had by default.
    `unit_ms`: what a bare number counts, as in the registry; None: a timespan needs its unit.
    """

    name: str
    section: str
    kind: Kind
    default: Value
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    limit: int | None = None
    beyond: int = 0
    presets: Mapping[str, int] = field(default_factory=dict)
    unit_ms: int | None = None


def find(section: str, name: str) -> Parameter:
    """The parameter of that section and name. Raises ConfigurationError with the nearest name."""
    if section not in PARAMETERS:
        raise ConfigurationError(
            f"{section} is no group of parameters", suggestion(section, PARAMETERS)
        )
    parameters = PARAMETERS[section]
    if name not in parameters:
        raise ConfigurationError(
            f"{name} is no parameter of {section}", suggestion(name, parameters)
        )
    return parameters[name]


def defaults(section: str) -> dict[str, Value]:
    """Every parameter of a section with its default."""
    return {name: parameter.default for name, parameter in PARAMETERS[section].items()}


def parse_value(parameter: Parameter, raw: object) -> Value:
    """Read a value as YAML or JSON gives it: bool, int, ms, bytes or the choice's own word.

    Raises ConfigurationError where the kind is wrong or the value lies outside the range.
    """
    if parameter.kind == "bool":
        return _parse_bool(parameter, raw)
    if parameter.kind == "choice":
        return _parse_choice(parameter, raw)
    if parameter.kind == "int":
        return _within(parameter, _parse_int(parameter, raw))
    if isinstance(raw, str) and raw in parameter.presets:
        return parameter.presets[raw]
    if parameter.unit_ms is not None and isinstance(raw, int) and not isinstance(raw, bool):
        return _within(parameter, raw * parameter.unit_ms)
    try:
        value = parse_size(raw) if parameter.kind == "size" else parse_timespan(raw)
    except ConfigurationError as mistake:
        hint = "; or ".join([mistake.hint, *parameter.presets])
        raise refusal(parameter.name, raw, mistake.rule, hint) from None
    return _within(parameter, value)


def format_value(parameter: Parameter, value: Value) -> Value:
    """The value as a configuration file shows it: timespans and sizes as text, else as it is."""
    if parameter.kind == "timespan":
        return format_timespan(int(value))
    return format_size(int(value)) if parameter.kind == "size" else value


def _parse_bool(parameter: Parameter, raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    words = {"$true": True, "true": True, "$false": False, "false": False}
    if isinstance(raw, str) and raw.lower() in words:
        return words[raw.lower()]
    raise refusal(parameter.name, raw, "is neither true nor false", "write true or false")


def _parse_choice(parameter: Parameter, raw: object) -> str:
    if isinstance(raw, str) and raw in parameter.choices:
        return raw
    hint = "known are " + ", ".join(parameter.choices)
    if isinstance(raw, str):
        hint = suggestion(raw, set(parameter.choices))
    raise refusal(parameter.name, raw, "is not one of its words", hint)


def _parse_int(parameter: Parameter, raw: object) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw in parameter.choices:
        return parameter.high
    hint = f"it takes {_range(parameter)}"
    raise refusal(parameter.name, raw, "is not a whole number", hint)


def _within(parameter: Parameter, value: int) -> int:
    if not parameter.low <= value <= parameter.high:
        hint = f"it takes {_range(parameter)}"
        raise refusal(parameter.name, format_value(parameter, value), "is out of range", hint)
    if parameter.limit is not None and value > parameter.limit:
        return parameter.beyond
    return value


def _range(parameter: Parameter) -> str:
    if parameter.kind == "timespan":
        return f"{format_timespan(parameter.low)} to {format_timespan(parameter.high)}"
    if parameter.kind == "size":
        return f"{format_size(parameter.low)} to {format_size(parameter.high)}"
    words = "".join(f" or {word}" for word in parameter.choices)
    return f"{parameter.low} to {parameter.high}{words}"


def _span(
    section: str, name: str, default_ms: int, low_ms: int, high_ms: int = DAY_MS
) -> Parameter:
    return Parameter(name, section, "timespan", default_ms, low_ms, high_ms)


def _whole(
    section: str, name: str, default: int, high: int, low: int = 0, word: str = ""
) -> Parameter:
    return Parameter(name, section, "int", default, low, high, (word,) if word else ())


_CONFIG, _SERVICE = "TransportConfig", "TransportService"
WAYS = ("LowToMedium", "MediumToHigh", "HighToMedium", "MediumToLow")
_PREFERENCES = ("PreferRemote", "LocalOnly", "RemoteOnly")
NOT_CONVERTED = "Use7Bit"
_ENCODERS = (NOT_CONVERTED, "UseQP", "UseBase64")


def _thresholds(resource: str, high: int, defaults: tuple[int, ...]) -> Iterator[Parameter]:
    """Of back pressure: one for each way from level to level."""
    for way, default in zip(WAYS, defaults, strict=True):
        yield _whole(_SERVICE, f"{resource}{way}", default, high)


# Ranges that F§3 leaves open are this project's choice and marked [U].
_TABLE = (
    Parameter("ShadowRedundancyEnabled", _CONFIG, "bool", True),
    Parameter("RejectMessageOnShadowFailure", _CONFIG, "bool", False),
    Parameter(
        "ShadowMessagePreferenceSetting", _CONFIG, "choice", "PreferRemote", choices=_PREFERENCES
    ),
    _whole(_CONFIG, "MaxRetriesForRemoteSiteShadow", 4, 255),
    _whole(_CONFIG, "MaxRetriesForLocalSiteShadow", 2, 255),
    _span(_CONFIG, "ShadowHeartbeatFrequency", 2 * MINUTE_MS, SECOND_MS),
    _span(_CONFIG, "ShadowResubmitTimeSpan", 3 * HOUR_MS, SECOND_MS),
    _span(_CONFIG, "ShadowMessageAutoDiscardInterval", 2 * DAY_MS, 5 * SECOND_MS, 90 * DAY_MS),
    _span(_CONFIG, "SafetyNetHoldTime", 2 * DAY_MS, SECOND_MS, 90 * DAY_MS),  # [U]
    # of 2010: a node shows both and goes by neither (SN-18)
    Parameter("MaxDumpsterSizePerDatabase", _CONFIG, "size", 18 * MIB, 0, 2_147_483_647 * KIB),
    _span(_CONFIG, "MaxDumpsterTime", 7 * DAY_MS, 0, 24_855 * DAY_MS),
    # [U]: a node has a message in memory until it is durable, so the range ends early
    Parameter("MaxReceiveSize", _CONFIG, "size", 10 * MIB, 1 * KIB, 128 * MIB),
    Parameter("MaxSendSize", _CONFIG, "size", 10 * MIB, 1 * KIB, 128 * MIB),  # [U], as above
    _whole(_CONFIG, "MaxRecipientEnvelopeLimit", 500, INT_MAX, 0, "unlimited"),
    Parameter("InternalDelayDsnEnabled", _CONFIG, "bool", True),
    Parameter("ExternalDelayDsnEnabled", _CONFIG, "bool", True),
    # of Set-OrganizationConfig, and as these of the whole organisation; three of its seven words
    Parameter(
        "ByteEncoderTypeFor7BitCharsets", _CONFIG, "choice", NOT_CONVERTED, choices=_ENCODERS
    ),
    # "": that of the organisation
    Parameter("ShadowMessagePreference", _SERVICE, "choice", "", choices=_PREFERENCES),
    _span(_SERVICE, "MessageExpirationTimeout", 2 * DAY_MS, 5 * SECOND_MS, 90 * DAY_MS),
    _span(_SERVICE, "DelayNotificationTimeout", 4 * HOUR_MS, SECOND_MS, 30 * DAY_MS),
    _whole(_SERVICE, "QueueGlitchRetryCount", 4, 15),
    _span(_SERVICE, "QueueGlitchRetryInterval", MINUTE_MS, SECOND_MS),  # [U]
    _whole(_SERVICE, "TransientFailureRetryCount", 6, 15),
    _span(_SERVICE, "TransientFailureRetryInterval", 5 * MINUTE_MS, SECOND_MS, 12 * HOUR_MS),
    _span(
        _SERVICE, "OutboundConnectionFailureRetryInterval", 10 * MINUTE_MS, SECOND_MS, 20 * DAY_MS
    ),
    _span(_SERVICE, "MessageRetryInterval", 15 * MINUTE_MS, SECOND_MS),
    _span(_SERVICE, "QueueMaxIdleTime", 3 * MINUTE_MS, 5 * SECOND_MS, HOUR_MS),
    _whole(_SERVICE, "MaxConnectionRatePerMinute", 1200, INT_MAX, 1),
    _whole(_SERVICE, "IntraOrgConnectorSmtpMaxMessagesPerConnection", 20, INT_MAX),
    _whole(_SERVICE, "MaxPerDomainOutboundConnections", 20, INT_MAX, 1, "unlimited"),
    _whole(_SERVICE, "MaxOutboundConnections", 1000, INT_MAX, 1, "unlimited"),
    _whole(_SERVICE, "MaxConcurrentMailboxDeliveries", 20, 256, 1),
    _whole(_SERVICE, "MaxConcurrentMailboxSubmissions", 20, 256, 1),
    # [U], names too: how much is done or said at once, the rest after it
    _whole(_SERVICE, "DiscardNotificationsPerAnswer", 200, 200, 1),
    _whole(_SERVICE, "PromotionPageSize", 50, 1000, 1),
    _whole(_SERVICE, "SafetyNetPageSize", 50, 1000, 1),
    # [U]: so many messages in the delivery queue of its database make a resubmission wait (SN-19)
    _whole(_SERVICE, "ResubmissionQueueLength", 1000, INT_MAX, 1),
    # back pressure: figures of F§6, names [U]; 0 B: the volume of the queue database is not watched
    Parameter("QueueDatabaseVolumeSize", _SERVICE, "size", 0, 0, 65_536 * MIB),
    _span(_SERVICE, "ResourceMonitoringInterval", 2 * SECOND_MS, SECOND_MS),
    *_thresholds("DatabaseUsedSpace", 100, (96, 99, 97, 94)),
    *_thresholds("SubmissionQueue", INT_MAX, (9999, 15_000, 10_000, 2000)),
    _span("ReceiveConnector", "ConnectionTimeout", 10 * MINUTE_MS, SECOND_MS),
    _span("ReceiveConnector", "ConnectionInactivityTimeout", 5 * MINUTE_MS, SECOND_MS),
    _whole("ReceiveConnector", "MaxHopCount", 60, 500, 1),
    _whole("ReceiveConnector", "MaxLocalHopCount", 8, 50),  # 0: as many as MaxHopCount
    _whole("ReceiveConnector", "MaxRecipientsPerMessage", 200, 512_000, 1),
    _whole("ReceiveConnector", "MaxProtocolErrors", 5, INT_MAX, 0, "unlimited"),
    # those of the connector "Default <server>", which other servers call, too
    _whole("ReceiveConnector", "MaxInboundConnection", 5000, INT_MAX, 1, "unlimited"),
    _whole("ReceiveConnector", "MaxInboundConnectionPerSource", INT_MAX, INT_MAX, 1, "unlimited"),
    _whole("ReceiveConnector", "MaxInboundConnectionPercentagePerSource", 100, 100, 1),
    _whole("ReceiveConnector", "MessageRateLimit", INT_MAX, INT_MAX, 1, "unlimited"),
    _span("ReceiveConnector", "TarpitInterval", 5 * SECOND_MS, 0, 10 * MINUTE_MS),
    _span("SendConnector", "ConnectionInactivityTimeOut", 10 * MINUTE_MS, SECOND_MS),
    # DD-5: registry values by their own names, hours and milliseconds there; lowest values [U]
    replace(
        _span("MailboxDatabase", "Track Duplicates", 7 * DAY_MS, SECOND_MS, 36_500 * DAY_MS),
        limit=49 * DAY_MS,
        beyond=DAY_MS,
        presets=MappingProxyType({"Exchange2010": HOUR_MS}),  # F§4.3
        unit_ms=HOUR_MS,
    ),
    replace(
        _span("MailboxDatabase", "Background Cleanup", HOUR_MS, SECOND_MS, 49 * DAY_MS), unit_ms=1
    ),
)


def _by_section() -> Mapping[str, Mapping[str, Parameter]]:
    sections: dict[str, dict[str, Parameter]] = {}
    for parameter in _TABLE:
        sections.setdefault(parameter.section, {})[parameter.name] = parameter
    return MappingProxyType({name: MappingProxyType(rows) for name, rows in sections.items()})


PARAMETERS: Mapping[str, Mapping[str, Parameter]] = _by_section()
TRACK_DUPLICATES = PARAMETERS["MailboxDatabase"]["Track Duplicates"]
BACKGROUND_CLEANUP = PARAMETERS["MailboxDatabase"]["Background Cleanup"]
SERVER_SECTIONS: tuple[str, ...] = tuple(
    name for name in PARAMETERS if name not in (_CONFIG, TRACK_DUPLICATES.section)
)
