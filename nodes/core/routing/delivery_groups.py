"""Delivery groups: which servers a next hop outside of this boundary is reached at, over which
path, and in which turn they are tried (RT-2, RT-3, RT-5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from nodes.core.config.config import NodeConfig, Server
from nodes.core.config.network import SendConnector
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.routing.boundary import servers_of
from nodes.core.routing.paths import Path, paths_from


@lru_cache(maxsize=256)
def paths_of(config: NodeConfig) -> Mapping[str, Path]:
    """From this server's site to each site of the organisation, by name."""
    named = {site.name for site in config.network.sites}
    inside = {server.site for server in config.servers if server.role != "external"}
    return paths_from(config.me.site, config.network, inside - named)


def members_of(config: NodeConfig, group: NextHop) -> tuple[str, ...]:
    """Names of the mailbox servers of a delivery group, in order."""
    match group.delivery_type:
        case DeliveryType.SITE:
            return tuple(sorted(s.name for s in _mailbox_servers(config) if s.site == group.name))
        case DeliveryType.CONNECTOR_SOURCES:
            return tuple(sorted(connector_named(config, group.name).sources))
        case DeliveryType.SERVER_LIST:
            return (group.name,)
        case _:
            return servers_of(config, group)


def connector_named(config: NodeConfig, name: str) -> SendConnector:
    return next(each for each in config.network.connectors if each.name == name)


def path_to(config: NodeConfig, group: NextHop) -> Path:
    """To the primary site of a group, which is the nearest one that has a member of it."""
    if group.delivery_type is DeliveryType.SITE:
        return paths_of(config)[group.name]
    sites = {server.site for server in _named(config, members_of(config, group))}
    return min((paths_of(config)[site] for site in sites), key=lambda path: _nearness(path))


def stop_on_the_way(config: NodeConfig, group: NextHop) -> NextHop:
    """The nearest hub site on the path to the group, also where the group is in it; else the group
    itself (RT-2).
    """
    hubs = {site.name for site in config.network.sites if site.is_hub}
    on_the_way = (site for site in path_to(config, group).sites[1:] if site in hubs)
    hub = next(on_the_way, None)
    return group if hub is None else NextHop(DeliveryType.SITE, hub)


def servers_in_turn(config: NodeConfig, group: NextHop, first: str | None) -> tuple[str, ...]:
    """Names of the servers to try for a group: those of its primary site, `first` before the
    others; its members elsewhere, the nearest first. Where none of them is in this server's own
    site, then all others of the primary site, and back along the path, site by site, as near to the
    destination as can be (RT-5).
    """
    paths = paths_of(config)
    members = sorted(
        _named(config, members_of(config, group)),
        key=lambda server: (_nearness(paths[server.site]), server.name != first, server.name),
    )
    turn = [server.name for server in members]
    path = path_to(config, group)
    if all(server.site != config.me.site for server in members):
        turn += _back_along(config, path)
    return tuple(name for name in dict.fromkeys(turn) if name != config.me.name)


def _back_along(config: NodeConfig, path: Path) -> Iterator[str]:
    for site in path.sites[:0:-1]:
        yield from sorted(s.name for s in _mailbox_servers(config) if s.site == site)


def _nearness(path: Path) -> tuple[int, int, str]:
    return path.cost, len(path.sites), path.sites[-1]


def _mailbox_servers(config: NodeConfig) -> Iterable[Server]:
    return (server for server in config.servers if server.role == "mailbox")


def _named(config: NodeConfig, names: Iterable[str]) -> list[Server]:
    wanted = set(names)
    return [server for server in config.servers if server.name in wanted]
