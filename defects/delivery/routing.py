"""Defects of routing: which way mail takes, and where it waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from defects.decisions import decides
from defects.defect import Context, Defect
from defects.settings import goes_by
from nodes.core.config.config import NodeConfig
from nodes.core.config.network import Network
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.routing.delivery_groups import members_of, servers_in_turn, stop_on_the_way
from nodes.core.routing.paths import Path, paths_from
from nodes.core.routing.routing import next_hop

OVERRIDDEN, COST_IN_ACTIVE_DIRECTORY = {"lisbon", "bonn"}, 50
Paths = Callable[..., Mapping[str, Path]]


def network(change: Callable[[Network], Network]) -> Context:
    return goes_by(lambda config: replace(config, network=change(config.network)))


def _each_costs_one(known: Network) -> Network:
    return replace(known, links=tuple(replace(link, cost=1) for link in known.links))


def _without_exchange_cost(known: Network) -> Network:
    """Of the only link that has one."""
    links = (
        replace(link, cost=COST_IN_ACTIVE_DIRECTORY) if set(link.between) == OVERRIDDEN else link
        for link in known.links
    )
    return replace(known, links=tuple(links))


def _without_limits(known: Network) -> Network:
    return replace(known, links=tuple(replace(link, max_bytes=None) for link in known.links))


def _without_limits_of_connectors(known: Network) -> Network:
    connectors = tuple(replace(each, max_bytes=None) for each in known.connectors)
    return replace(known, connectors=connectors)


def _in_the_other_order(decision: Paths, site: str, known: Network, others: Any = ()) -> Any:
    """As if the names ran from Z to A: sites are called otherwise while paths are looked for."""
    sites = {site, *others, *(each.name for each in known.sites)}
    other = dict(zip(sorted(sites), sorted(sites, reverse=True), strict=True))
    back = {after: before for before, after in other.items()}
    found = decision(
        other[site],
        replace(
            known,
            sites=tuple(replace(each, name=other[each.name]) for each in known.sites),
            links=tuple(_called(link, other) for link in known.links),
        ),
        [other[each] for each in others],
    )
    return {
        back[name]: replace(path, sites=tuple(back[each] for each in path.sites))
        for name, path in found.items()
    }


def _called(link: Any, other: Mapping[str, str]) -> Any:
    one, end = link.between
    return replace(link, between=(other[one], other[end]))


def _at_the_hub_for_some(
    decision: Callable[..., NextHop | None], config: NodeConfig, address: str, *size: int
) -> NextHop | None:
    """Whoever reads mail in a mailbox goes there straight, and splits off too soon."""
    hop = decision(config, address, *size)
    database = config.mailboxes.get(address.lower())
    if hop is None or hop.delivery_type is not DeliveryType.SITE or database is None:
        return hop
    holder = config.server_named(config.databases[database])
    assert holder is not None
    return (
        NextHop(DeliveryType.MAILBOX_GROUP, holder.site)
        if holder.dag is None
        else NextHop(DeliveryType.DAG, holder.dag)
    )


def _members_only(_decision: Any, config: NodeConfig, group: NextHop, _first: str | None) -> Any:
    return tuple(name for name in members_of(config, group) if name != config.me.name)


def _farthest_first(decision: Callable[..., tuple[str, ...]], *arguments: Any) -> tuple[str, ...]:
    return tuple(reversed(decision(*arguments)))


ROUTED = ("routed_as_computed",)
HUB, BACK, OUT, LARGE = "hub-site", "back-off", "send-connectors", "too-large-for-its-path"
DEFECTS = (
    Defect(
        "counts-hops-and-no-costs",
        "Each link costs the same: the way with the fewest hops is taken, or the first by name.",
        "RT-1", HUB, ROUTED, lambda: network(_each_costs_one),
    ),
    Defect(
        "goes-by-no-exchange-cost",
        "A link has the cost of Active Directory, whatever Exchange cost it is given.",
        "TP-2", BACK, ROUTED, lambda: network(_without_exchange_cost),
    ),
    Defect(
        "takes-the-last-by-name",
        "Of two ways that cost the same and are as long the last in the alphabet is taken.",
        "RT-1", BACK, ROUTED, lambda: decides(paths_from, _in_the_other_order),
    ),
    Defect(
        "sends-what-is-too-large-for-a-link",
        "Maximum message sizes of site links count for nothing.",
        "RT-1", LARGE, ROUTED, lambda: network(_without_limits),
    ),
    Defect(
        "passes-hub-sites",
        "Mail passes the hub sites on its path.",
        "RT-2", HUB, ROUTED, lambda: decides(stop_on_the_way, lambda _, _config, group: group),
    ),
    Defect(
        "sends-out-by-itself",
        "Outbound mail does not go to the source servers of a connector.",
        "RT-3", OUT, ROUTED, lambda: network(lambda known: replace(known, connectors=())),
    ),
    Defect(
        "takes-a-connector-that-is-too-small",
        "Maximum message sizes of connectors count for nothing.",
        "RT-3", OUT, ROUTED, lambda: network(_without_limits_of_connectors),
    ),
    Defect(
        "splits-before-the-hub",
        "At a hub site only mail stops that leaves the organisation: a message splits before it.",
        "RT-4", HUB, ROUTED, lambda: decides(next_hop, _at_the_hub_for_some),
    ),
    Defect(
        "never-backs-off",
        "Mail whose destination cannot be reached waits where it is.",
        "RT-5", BACK, ROUTED, lambda: decides(servers_in_turn, _members_only),
    ),
    Defect(
        "stops-on-the-way-for-nothing",
        "Mail goes to the servers that stand in for a destination before those of it are tried.",
        "RT-5", BACK, ROUTED, lambda: decides(servers_in_turn, _farthest_first),
    ),
)  # fmt: skip
