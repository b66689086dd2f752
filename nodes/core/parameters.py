"""Exchange's own parameters: names, kinds, defaults, ranges, and what contradicts what.

One table serves the node (which refuses a wrong configuration) and the lab (which refuses a
wrong scenario), so both say the same of the same mistake. Timespans are integer milliseconds
once read, and Exchange's `[d.]hh:mm:ss` when written. Nothing here decides what a parameter
does; nothing here knows a file, a place in it, or a server's name beyond the key it came under.

Sources: F§3.1 (organisation), F§3.2 (server), F§3.3 (connectors), F§3.4 and SR-13 (rules), DD-2.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal, TypeAlias

Kind = Literal["bool", "int", "timespan", "size", "choice"]
Value: TypeAlias = bool | int | str

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
INT_MAX = 2_147_483_647
KIB, MIB = 1024, 1024 * 1024

_UNITS_MS = {"s": SECOND_MS, "m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS}
_EXCHANGE_TIMESPAN = re.compile(
    r"(?:([0-9]{1,8})\.)?([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,3})0*)?", re.ASCII
)
_UNIT_TIMESPAN = re.compile(
    r"(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?", re.ASCII
)
_SIZE = re.compile(r"([0-9]{1,10})(B|KB|KiB|MB|MiB)", re.ASCII)
_SIZE_RULE = "write a number with B, KB or MB, such as 10MB; a KB is 1024 B"
_TIMESPAN_RULE = "write a number with its unit as 90s, 2m, 3h, 2d or 1h30m, or [d.]hh:mm:ss"


class ConfigurationError(ValueError):
    """A value that cannot be taken: `message` says all of it, `rule` only what it breaks."""

    def __init__(self, message: str, hint: str = "", *, rule: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.rule = rule or message


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `default`, `low` and `high` in milliseconds where the kind is timespan, in
    bytes where it is size.

    `choices` are the words a choice takes; for an int they are words that stand for `high`.
    `limit` and `beyond`: a value over `limit` counts as `beyond` (DD-2), it is no mistake.
    `presets`: values that have a name, such as what an older Exchange had by default.
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


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Settings that cannot hold together: `names` as `Section.Name`, `server` None for all."""

    names: tuple[str, ...]
    message: str
    hint: str
    server: str | None = None


def parse_timespan(raw: object) -> int:
    """Read `90s`, `2m`, `3h`, `2d`, `1h30m` or Exchange's `[d.]hh:mm:ss[.fff]` as milliseconds.

    Raises ConfigurationError for everything else, a bare number included.
    """
    if not isinstance(raw, str):
        raise _refusal("", raw, "is not a timespan", _TIMESPAN_RULE)
    text = raw.strip()
    if match := _EXCHANGE_TIMESPAN.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:4])
        if hours < 24 and minutes < 60 and seconds < 60:
            fraction_ms = int((match[5] or "0").ljust(3, "0"))
            return _total_ms(days, hours, minutes, seconds) + fraction_ms
    if text and (match := _UNIT_TIMESPAN.fullmatch(text)):
        return _total_ms(*(int(part or 0) for part in match.groups()))
    raise _refusal("", raw, "is not a timespan", _TIMESPAN_RULE)


def format_timespan(value_ms: int) -> str:
    """Write milliseconds as Exchange does: `00:02:00`, `2.00:00:00`, `00:00:01.500`."""
    seconds, fraction_ms = divmod(value_ms, SECOND_MS)
    days, seconds = divmod(seconds, 86_400)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    day_part = f"{days}." if days else ""
    fraction_part = f".{fraction_ms:03d}" if fraction_ms else ""
    return f"{day_part}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction_part}"


def parse_size(raw: object) -> int:
    """Read Exchange's `10MB` or `64KB`, or `64KiB`, as bytes; its KB has 1024.

    Raises ConfigurationError for everything else, a bare number included.
    """
    match = _SIZE.fullmatch(raw) if isinstance(raw, str) else None
    if match is None:
        raise _refusal("", raw, "is not a size", _SIZE_RULE)
    return int(match[1]) * {"B": 1, "K": KIB, "M": MIB}[match[2][0]]


def format_size(value_bytes: int) -> str:
    """Write bytes as Exchange does: `10MB`, `64KB`, `1000B`."""
    for unit, unit_bytes in (("MB", MIB), ("KB", KIB)):
        if value_bytes and value_bytes % unit_bytes == 0:
            return f"{value_bytes // unit_bytes}{unit}"
    return f"{value_bytes}B"


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
    try:
        value = parse_size(raw) if parameter.kind == "size" else parse_timespan(raw)
    except ConfigurationError as mistake:
        hint = "; or ".join([mistake.hint, *parameter.presets])
        raise _refusal(parameter.name, raw, mistake.rule, hint) from None
    return _within(parameter, value)


def format_value(parameter: Parameter, value: Value) -> Value:
    """The value as a configuration file shows it: timespans and sizes as text, else as it is."""
    if parameter.kind == "timespan":
        return format_timespan(int(value))
    return format_size(int(value)) if parameter.kind == "size" else value


def contradictions(
    transport_config: Mapping[str, Value],
    servers: Mapping[str, Mapping[str, Mapping[str, Value]]],
    given: AbstractSet[tuple[str, str]],
) -> list[Contradiction]:
    """Settings that contradict each other (SR-13), in a fixed order.

    `transport_config` and `servers` (server -> section -> name -> value) hold parsed values and
    may leave out what has its default. `given` are the (section, name) pairs somebody wrote down.
    """
    found = _preference_contradictions(defaults("TransportConfig") | dict(transport_config), given)
    for server in sorted(servers):
        found += _server_contradictions(server, servers[server])
    return found


def suggestion(name: str, known: Mapping[str, object] | AbstractSet[str]) -> str:
    """`did you mean X?` for the nearest known name, or the known names when none is near."""
    lowered = {candidate.lower(): candidate for candidate in sorted(known)}
    near = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    if near:
        return f"did you mean {lowered[near[0]]}?"
    return "known are " + ", ".join(sorted(known))


def shown(raw: object) -> str:
    """A value as a message quotes it: short, on one line, recognisable."""
    text = repr(raw) if isinstance(raw, str) else str(raw)
    return text if len(text) <= 60 else text[:57] + "..."


def _refusal(name: str, raw: object, rule: str, hint: str) -> ConfigurationError:
    subject = f"{name}: {shown(raw)}" if name else shown(raw)
    return ConfigurationError(f"{subject} {rule}", hint, rule=rule)


def _total_ms(days: int, hours: int, minutes: int, seconds: int) -> int:
    return days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS


def _parse_bool(parameter: Parameter, raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    words = {"$true": True, "true": True, "$false": False, "false": False}
    if isinstance(raw, str) and raw.lower() in words:
        return words[raw.lower()]
    raise _refusal(parameter.name, raw, "is neither true nor false", "write true or false")


def _parse_choice(parameter: Parameter, raw: object) -> str:
    if isinstance(raw, str) and raw in parameter.choices:
        return raw
    hint = "known are " + ", ".join(parameter.choices)
    if isinstance(raw, str):
        hint = suggestion(raw, set(parameter.choices))
    raise _refusal(parameter.name, raw, "is not one of its words", hint)


def _parse_int(parameter: Parameter, raw: object) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw in parameter.choices:
        return parameter.high
    hint = f"it takes {_range(parameter)}"
    raise _refusal(parameter.name, raw, "is not a whole number", hint)


def _within(parameter: Parameter, value: int) -> int:
    if not parameter.low <= value <= parameter.high:
        hint = f"it takes {_range(parameter)}"
        raise _refusal(parameter.name, format_value(parameter, value), "is out of range", hint)
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


def _preference_contradictions(
    values: Mapping[str, Value], given: AbstractSet[tuple[str, str]]
) -> list[Contradiction]:
    preference = values["ShadowMessagePreferenceSetting"]
    remote, local = values["MaxRetriesForRemoteSiteShadow"], values["MaxRetriesForLocalSiteShadow"]
    if preference == "LocalOnly" and remote != 0:
        return [_preference_against("Remote", remote, "LocalOnly", "set it to 0 as well")]
    if preference == "PreferRemote" and remote == 0:
        hint = "set ShadowMessagePreferenceSetting to LocalOnly as well"
        return [_preference_against("Remote", remote, "PreferRemote", hint)]
    local_is_given = ("TransportConfig", "MaxRetriesForLocalSiteShadow") in given
    if preference == "RemoteOnly" and local != 0 and local_is_given:
        return [_preference_against("Local", local, "RemoteOnly", "set it to 0 or leave it out")]
    return []


def _preference_against(where: str, attempts: Value, preference: str, hint: str) -> Contradiction:
    name = f"MaxRetriesFor{where}SiteShadow"
    return Contradiction(
        ("TransportConfig.ShadowMessagePreferenceSetting", f"TransportConfig.{name}"),
        f"ShadowMessagePreferenceSetting {preference} contradicts {name} {attempts}",
        f"{name}: {hint}" if hint.startswith("set it") else hint,
    )


def _server_contradictions(
    server: str, sections: Mapping[str, Mapping[str, Value]]
) -> list[Contradiction]:
    found = []
    receive = defaults("ReceiveConnector") | dict(sections.get("ReceiveConnector", {}))
    silence, whole = receive["ConnectionInactivityTimeout"], receive["ConnectionTimeout"]
    if int(silence) >= int(whole):
        found.append(
            Contradiction(
                (
                    "ReceiveConnector.ConnectionInactivityTimeout",
                    "ReceiveConnector.ConnectionTimeout",
                ),
                f"ConnectionInactivityTimeout {format_timespan(int(silence))} is not less than "
                f"ConnectionTimeout {format_timespan(int(whole))}",
                "a silent session must end before a session that has run too long",
                server,
            )
        )
    return found + _delay_contradictions(server, sections.get("TransportService", {}))


def _delay_contradictions(server: str, service: Mapping[str, Value]) -> list[Contradiction]:
    values = defaults("TransportService") | dict(service)
    count = values["TransientFailureRetryCount"]
    interval_ms = values["TransientFailureRetryInterval"]
    ladder_ms, delay_ms = int(count) * int(interval_ms), int(values["DelayNotificationTimeout"])
    if delay_ms > ladder_ms:
        return []
    return [
        Contradiction(
            (
                "TransportService.DelayNotificationTimeout",
                "TransportService.TransientFailureRetryCount",
                "TransportService.TransientFailureRetryInterval",
            ),
            f"DelayNotificationTimeout {format_timespan(delay_ms)} is not more than "
            f"TransientFailureRetryCount {count} x "
            f"TransientFailureRetryInterval {format_timespan(int(interval_ms))}",
            f"late comes after the retries: write more than {format_timespan(ladder_ms)}",
            server,
        )
    ]


def _span(
    section: str, name: str, default_ms: int, low_ms: int, high_ms: int = DAY_MS
) -> Parameter:
    return Parameter(name, section, "timespan", default_ms, low_ms, high_ms)


def _whole(
    section: str, name: str, default: int, high: int, low: int = 0, word: str = ""
) -> Parameter:
    return Parameter(name, section, "int", default, low, high, (word,) if word else ())


_CONFIG, _SERVICE = "TransportConfig", "TransportService"
_PREFERENCES = ("PreferRemote", "LocalOnly", "RemoteOnly")

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
    # [U]: a node has a message in memory until it is durable, so the range ends early
    Parameter("MaxReceiveSize", _CONFIG, "size", 10 * MIB, 1 * KIB, 128 * MIB),
    _span(_SERVICE, "MessageExpirationTimeout", 2 * DAY_MS, 5 * SECOND_MS, 90 * DAY_MS),
    _span(_SERVICE, "DelayNotificationTimeout", 4 * HOUR_MS, SECOND_MS, 30 * DAY_MS),
    _whole(_SERVICE, "QueueGlitchRetryCount", 4, 15),
    _span(_SERVICE, "QueueGlitchRetryInterval", MINUTE_MS, SECOND_MS),  # [U]
    _whole(_SERVICE, "TransientFailureRetryCount", 6, 15),
    _span(_SERVICE, "TransientFailureRetryInterval", 5 * MINUTE_MS, SECOND_MS, 12 * HOUR_MS),
    _span(
        _SERVICE, "OutboundConnectionFailureRetryInterval", 10 * MINUTE_MS, SECOND_MS, 20 * DAY_MS
    ),
    _whole(_SERVICE, "IntraOrgConnectorSmtpMaxMessagesPerConnection", 20, INT_MAX),
    _whole(_SERVICE, "MaxPerDomainOutboundConnections", 20, INT_MAX, 1, "unlimited"),
    _whole(_SERVICE, "PoisonThreshold", 2, 10, 1),
    Parameter("PoisonMessageDetectionEnabled", _SERVICE, "bool", True),
    _span("ReceiveConnector", "ConnectionTimeout", 10 * MINUTE_MS, SECOND_MS),
    _span("ReceiveConnector", "ConnectionInactivityTimeout", 5 * MINUTE_MS, SECOND_MS),
    _span("SendConnector", "ConnectionInactivityTimeOut", 10 * MINUTE_MS, SECOND_MS),
    replace(  # lowest value [U]
        _span(
            "MailboxDatabase", "DuplicateDetectionWindow", 7 * DAY_MS, SECOND_MS, 36_500 * DAY_MS
        ),
        limit=49 * DAY_MS,
        beyond=DAY_MS,
        presets=MappingProxyType({"Exchange2010": HOUR_MS}),  # 002
    ),
)


def _by_section() -> Mapping[str, Mapping[str, Parameter]]:
    sections: dict[str, dict[str, Parameter]] = {}
    for parameter in _TABLE:
        sections.setdefault(parameter.section, {})[parameter.name] = parameter
    return MappingProxyType({name: MappingProxyType(rows) for name, rows in sections.items()})


PARAMETERS: Mapping[str, Mapping[str, Parameter]] = _by_section()
DUPLICATE_DETECTION_WINDOW = PARAMETERS["MailboxDatabase"]["DuplicateDetectionWindow"]
SERVER_SECTIONS: tuple[str, ...] = tuple(
    name for name in PARAMETERS if name not in (_CONFIG, DUPLICATE_DETECTION_WINDOW.section)
)
