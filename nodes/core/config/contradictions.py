"""Parameters that cannot hold together (SR-13, F§3.4)."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from nodes.core.config.parameters import INT_MAX, Value, defaults
from nodes.core.config.units import format_timespan

_PREFERENCES = {
    "TransportConfig": "ShadowMessagePreferenceSetting",
    "TransportService": "ShadowMessagePreference",
}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Settings that cannot hold together: `names` as `Section.Name`, `server` None for all."""

    names: tuple[str, ...]
    message: str
    hint: str
    server: str | None = None


def contradictions(
    transport_config: Mapping[str, Value],
    servers: Mapping[str, Mapping[str, Mapping[str, Value]]],
    given: AbstractSet[tuple[str, str]],
) -> list[Contradiction]:
    """Settings that contradict each other (SR-13), in a fixed order.

    `transport_config` and `servers` (server -> section -> name -> value) hold parsed values and
    may leave out what has its default. `given` are the (section, name) pairs somebody wrote down.
    """
    config = defaults("TransportConfig") | dict(transport_config)
    local_is_given = ("TransportConfig", "MaxRetriesForLocalSiteShadow") in given
    found = _preference_contradictions(
        config, "TransportConfig", config["ShadowMessagePreferenceSetting"], local_is_given
    )
    for server in sorted(servers):
        own = servers[server].get("TransportService", {}).get("ShadowMessagePreference", "")
        found += [
            replace(each, server=server)
            for each in _preference_contradictions(config, "TransportService", own, local_is_given)
        ]
        found += _server_contradictions(server, servers[server])
    return found


def _preference_contradictions(
    config: Mapping[str, Value], section: str, preference: Value, local_is_given: bool
) -> list[Contradiction]:
    """Of the organisation's preference, or of a server's own; "" is none."""
    name = _PREFERENCES[section]
    remote, local = config["MaxRetriesForRemoteSiteShadow"], config["MaxRetriesForLocalSiteShadow"]

    def against(where: str, attempts: Value, hint: str) -> list[Contradiction]:
        count = f"MaxRetriesFor{where}SiteShadow"
        return [
            Contradiction(
                (f"{section}.{name}", f"TransportConfig.{count}"),
                f"{name} {preference} contradicts {count} {attempts}",
                f"{count}: {hint}" if hint.startswith("set it") else hint,
            )
        ]

    if preference == "LocalOnly" and remote != 0:
        return against("Remote", remote, "set it to 0 as well")
    if preference == "PreferRemote" and remote == 0:
        return against("Remote", remote, f"set {name} to LocalOnly as well")
    if preference == "RemoteOnly" and local != 0 and local_is_given:
        return against("Local", local, "set it to 0 or leave it out")
    return []


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
    service = defaults("TransportService") | dict(sections.get("TransportService", {}))
    found += _connection_contradictions(server, service)
    return found + _delay_contradictions(server, service)


def _connection_contradictions(server: str, service: Mapping[str, Value]) -> list[Contradiction]:
    names = "MaxPerDomainOutboundConnections", "MaxOutboundConnections"
    of_one, of_all = (int(service[name]) for name in names)
    if of_one <= of_all or of_one == INT_MAX:
        return []
    return [
        Contradiction(
            tuple(f"TransportService.{name}" for name in names),
            f"{names[0]} {of_one} is more than {names[1]} {of_all}",
            f"{names[0]}: set it to {of_all} at most",
            server,
        )
    ]


def _delay_contradictions(server: str, values: Mapping[str, Value]) -> list[Contradiction]:
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
