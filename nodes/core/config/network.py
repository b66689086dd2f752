"""Sites, the links between them, and Send connectors: what routing goes by (TP-2, RT-3).

A site that no link names is on DEFAULTIPSITELINK, which joins such sites to all others at
DEFAULT_COST. A connector that no server is the source of does not exist; an outside server that no
connector names is reached by every mailbox server itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.config.error import ConfigurationError
from nodes.core.config.units import parse_size

Json: TypeAlias = Mapping[str, object]

DEFAULT_COST = 100
MAX_COST = 99_999


@dataclass(frozen=True, slots=True)
class Site:
    """An Active Directory site; mail whose path leads over a hub site stops there (RT-2)."""

    name: str
    is_hub: bool


@dataclass(frozen=True, slots=True)
class SiteLink:
    """An IP site link. `cost` is its Exchange cost where it has one; `max_bytes` is its maximum
    message size, None where it has none.
    """

    between: tuple[str, str]
    cost: int
    max_bytes: int | None


@dataclass(frozen=True, slots=True)
class SendConnector:
    """Mail for `smart_host`, a server outside, leaves by one of `sources`."""

    name: str
    smart_host: str
    sources: tuple[str, ...]
    cost: int
    max_bytes: int | None


@dataclass(frozen=True, slots=True)
class Network:
    """What Active Directory says of the ways that mail takes."""

    sites: tuple[Site, ...]
    links: tuple[SiteLink, ...]
    connectors: tuple[SendConnector, ...]


def read_network(document: Json) -> Network:
    """Of a node configuration file's JSON object, in which each of the three lists may be missing.
    Raises ConfigurationError.
    """
    return Network(
        tuple(_site(entry) for entry in _objects(document, "Sites")),
        tuple(_link(entry) for entry in _objects(document, "SiteLinks")),
        tuple(_connector(entry) for entry in _objects(document, "SendConnectors")),
    )


def _site(entry: Json) -> Site:
    return Site(_text(entry, "Name"), entry.get("HubSiteEnabled") is True)


def _link(entry: Json) -> SiteLink:
    one, *others = _texts(entry, "Sites")
    if len(others) != 1:
        raise ConfigurationError("SiteLinks: Sites: must be two", "")
    exchange = _cost(entry, "ExchangeCost") if entry.get("ExchangeCost") is not None else None
    cost = _cost(entry, "Cost")
    return SiteLink((one, others[0]), cost if exchange is None else exchange, _max_bytes(entry))


def _connector(entry: Json) -> SendConnector:
    return SendConnector(
        _text(entry, "Name"),
        _text(entry, "SmartHost"),
        _texts(entry, "SourceTransportServers"),
        _cost(entry, "Cost"),
        _max_bytes(entry),
    )


def _max_bytes(entry: Json) -> int | None:
    given = entry.get("MaxMessageSize")
    return None if given is None else parse_size(given)


def _cost(entry: Json, key: str) -> int:
    value = entry.get(key, DEFAULT_COST)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_COST:
        raise ConfigurationError(f"{key}: {value!r}: must be a number from 1 to {MAX_COST}", "")
    return value


def _objects(document: Json, key: str) -> list[Json]:
    entries = document.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigurationError(f"{key}: must be a list of objects", "")
    return entries


def _texts(entry: Json, key: str) -> tuple[str, ...]:
    values = entry.get(key)
    if not isinstance(values, list) or not values or not all(isinstance(v, str) for v in values):
        raise ConfigurationError(f"{key}: {values!r}: must be a list of names", "")
    return tuple(values)


def _text(entry: Json, key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"{key}: {value!r}: must be a text that is not empty", "")
    return value
