"""Sites, the links between them, and Send connectors: what routing goes by (TP-2, RT-3).

A site that no link names is on DEFAULTIPSITELINK, which joins such sites to all others at
DEFAULT_COST. A connector that no server is the source of does not exist; an outside server that no
connector names is reached by every mailbox server itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.document import Json, objects_if_any, text, texts
from nodes.core.config.error import ConfigurationError
from nodes.core.config.units import parse_size

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
        tuple(map(_site, objects_if_any(document, "Sites"))),
        tuple(map(_link, objects_if_any(document, "SiteLinks"))),
        tuple(map(_connector, objects_if_any(document, "SendConnectors"))),
    )


def _site(entry: Json) -> Site:
    return Site(text(entry, "Name"), entry.get("HubSiteEnabled") is True)


def _link(entry: Json) -> SiteLink:
    between = texts(entry, "Sites")
    if len(between) != 2:
        raise ConfigurationError(f"SiteLinks: Sites: {list(between)}: must be two", "")
    has_its_own = entry.get("ExchangeCost") is not None
    cost = _cost(entry, "ExchangeCost" if has_its_own else "Cost")
    return SiteLink((between[0], between[1]), cost, _max_bytes(entry))


def _connector(entry: Json) -> SendConnector:
    sources = texts(entry, "SourceTransportServers")
    if not sources:
        raise ConfigurationError("SourceTransportServers: []: must name a server", "")
    return SendConnector(
        text(entry, "Name"),
        text(entry, "SmartHost"),
        sources,
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
