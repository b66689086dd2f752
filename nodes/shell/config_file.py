"""The configuration file of a node: the half that the core reads, and the half that the shell
reads.

One JSON object. What is wrong with it is said in one line with the key, the value and the rule
(SR-13); a key that nobody reads is a mistake too, and so is one given twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from nodes.core.config.config import NodeConfig, read_config
from nodes.core.config.error import ConfigurationError, suggestion
from nodes.core.config.parameters import PARAMETERS
from nodes.shell.chaos.places import PLACES, Breakpoint
from nodes.shell.clock import ClockSettings
from nodes.shell.smtp.address import Address
from nodes.shell.tls import Certificates

Json: TypeAlias = Mapping[str, Any]

VERSION = 1
SERVICE = "smtp"
OTHER_SERVICES = ("replication", "management")
_KEYS = frozenset(
    [
        "Version",
        "Name",
        "Fqdn",
        "Role",
        "Site",
        "DatabaseAvailabilityGroup",
        "Domain",
        "LabClock",
        "AcceptedDomain",
        "Servers",
        "Sites",
        "SiteLinks",
        "SendConnectors",
        "Databases",
        "Mailboxes",
        "DistributionGroups",
        "Links",
        "Listen",
        "Tls",
        "Data",
        "Logs",
        "Breakpoints",
    ]
) | frozenset(PARAMETERS)


@dataclass(frozen=True, slots=True)
class NodeFile:
    """`links`: where other servers are reached with mail, by name; `other_links`: with anything
    else, by name and service. `certificates`: None without TLS. `breakpoints`: none but where the
    lab asks for them.
    """

    node: NodeConfig
    clock: ClockSettings
    links: Mapping[str, Address]
    listen: Address
    certificates: Certificates | None
    data: Path
    logs: Path
    breakpoints: tuple[Breakpoint, ...] = ()
    other_links: Mapping[tuple[str, str], Address] = field(default_factory=dict)


def load_node_file(path: Path) -> NodeFile:
    """Read and check the file. Raises ConfigurationError, also where it cannot be read."""
    try:
        document = json.loads(path.read_text("utf-8"), object_pairs_hook=_once_each)
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror}", "") from error
    except ValueError as error:
        raise ConfigurationError(f"is not JSON: {error}", "") from error
    return read_node_file(document)


def read_node_file(document: Any) -> NodeFile:
    """Check the parsed file. Raises ConfigurationError."""
    if not isinstance(document, dict):
        raise ConfigurationError("must be a JSON object", "")
    for key in document:
        if key not in _KEYS:
            raise ConfigurationError(f"{key}: no such key", suggestion(key, _KEYS))
    given = document.get("Version", VERSION)
    if given != VERSION:
        raise ConfigurationError(f"Version: {given!r}: must be {VERSION}", "")
    return NodeFile(
        node=read_config(document),
        clock=_clock(_object(document, "LabClock")),
        links=_links(_object(document, "Links")),
        listen=_address(_object(document, "Listen").get(SERVICE), f"Listen.{SERVICE}"),
        certificates=_certificates(document.get("Tls")),
        data=_path(document, "Data"),
        logs=_path(document, "Logs"),
        breakpoints=_breakpoints(document.get("Breakpoints", [])),
        other_links=_other_links(_object(document, "Links")),
    )


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ConfigurationError(f"{key}: given twice", "")
        found[key] = value
    return found


def _clock(settings: Json) -> ClockSettings:
    speed, skew_ms = settings.get("Speed"), settings.get("SkewMs", 0)
    if not isinstance(speed, int | float) or isinstance(speed, bool) or speed <= 0:
        raise ConfigurationError(f"LabClock.Speed: {speed!r}: must be a number above 0", "")
    if not isinstance(skew_ms, int):
        raise ConfigurationError(f"LabClock.SkewMs: {skew_ms!r}: must be a whole number", "")
    return ClockSettings(
        origin_ms=_origin_ms(settings.get("Origin")),
        speed=float(speed),
        skew_ms=skew_ms,
        start_file=_path(settings, "StartFile", "LabClock."),
    )


def _origin_ms(text: Any) -> int:
    try:
        origin = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        origin = None
    if origin is None or origin.tzinfo is None:
        hint = "write it as 2026-01-05T08:00:00Z"
        raise ConfigurationError(f"LabClock.Origin: {text!r}: must be a date with its zone", hint)
    return round(origin.timestamp() * 1000)


def _links(links: Json) -> dict[str, Address]:
    """With mail: Active Manager has none such."""
    services = {server: _object(links, server, "Links.") for server in links}
    return {
        server: _address(linked.get(SERVICE), f"Links.{server}.{SERVICE}")
        for server, linked in services.items()
        if SERVICE in linked or not any(service in linked for service in OTHER_SERVICES)
    }


def _other_links(links: Json) -> dict[tuple[str, str], Address]:
    return {
        (server, service): _address(linked[service], f"Links.{server}.{service}")
        for server in links
        for linked in (_object(links, server, "Links."),)
        for service in OTHER_SERVICES
        if service in linked
    }


def _address(text: Any, key: str) -> Address:
    host, colon, port = text.rpartition(":") if isinstance(text, str) else ("", "", "")
    if not (host and colon and port.isascii() and port.isdigit() and int(port) < 65_536):
        raise ConfigurationError(f"{key}: {text!r}: must be host:port", "")
    return Address(host.strip("[]"), int(port))


def _certificates(tls: Any) -> Certificates | None:
    if tls is None:
        return None
    if not isinstance(tls, dict):
        raise ConfigurationError("Tls: must be an object", "")
    return Certificates(*(_path(tls, key, "Tls.") for key in ("Certificate", "Key", "Authority")))


_BREAKPOINT_KEYS = ("Name", "At", "Nth", "FromMs", "UntilMs")


def _breakpoints(given: Any) -> tuple[Breakpoint, ...]:
    if not isinstance(given, list):
        raise ConfigurationError("Breakpoints: must be a list", "")
    return tuple(_breakpoint(each, f"Breakpoints[{at}]") for at, each in enumerate(given))


def _breakpoint(given: Any, key: str) -> Breakpoint:
    if not isinstance(given, dict) or set(given) != set(_BREAKPOINT_KEYS):
        raise ConfigurationError(f"{key}: must have {', '.join(_BREAKPOINT_KEYS)}", "")
    name, at, *numbers = (given[each] for each in _BREAKPOINT_KEYS)
    if at not in PLACES:
        raise ConfigurationError(
            f"{key}.At: {at!r}: no such place", suggestion(str(at), set(PLACES))
        )
    if not isinstance(name, str) or not all(type(number) is int for number in numbers):
        rule = "Name must be a text, Nth, FromMs and UntilMs whole numbers"
        raise ConfigurationError(f"{key}: {rule}", "")
    return Breakpoint(name, at, *numbers)


def _object(document: Json, key: str, within: str = "") -> Json:
    value = document.get(key)
    if not isinstance(value, dict):
        raise ConfigurationError(f"{within}{key}: {value!r}: must be an object", "")
    return value


def _path(document: Json, key: str, within: str = "") -> Path:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"{within}{key}: {value!r}: must be a path", "")
    return Path(value)
