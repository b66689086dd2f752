"""Where a recipient's mail goes next (RT-2, RT-3), as delivery types of F§5.3:

- into a mailbox database of this server's own boundary, in one hop to the server of its active copy
  (SR-12);
- to the delivery group that has the database in another boundary, where some server receives the
  message as from outside and makes it redundant anew (SR-10). Of its servers that of the active
  copy is tried first, as far as this server knows it: which copy is active is announced inside a
  boundary alone. Whichever takes the message knows the active copy;
- to a server outside, where no Send connector names it or this server is a source of one that does;
  else to the connector's sources;
- to the expansion server of a distribution group that this server does not expand, wherever it is:
  in another boundary, or in this one, where it makes the message redundant anew as well;
- to a hub site, where one lies on the path to a delivery group.

A site link that the message is too large for makes what lies behind it unreachable; a connector
that it is too large for is passed over.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.config.network import SendConnector
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.routing.boundary import boundary_of, is_inside
from nodes.core.routing.delivery_groups import path_to, stop_on_the_way

TOO_LARGE = NextHop(DeliveryType.UNREACHABLE, "ROUTING.SizeLimit")


def next_hop(config: NodeConfig, address: str, size_bytes: int = 0) -> NextHop | None:
    """Next hop of an address for a message of that size, None where nobody serves it."""
    address = address.lower()
    database = config.mailboxes.get(address)
    if database is not None:
        hop = hop_into(config, database)
        return hop if hop.database else _over(config, hop, size_bytes)
    expansion_server = config.expansion_servers.get(address)
    if expansion_server is not None:
        return _over(config, NextHop(DeliveryType.SERVER_LIST, expansion_server), size_bytes)
    domain = address.rpartition("@")[2]
    for server in config.servers:
        if server.role == "external" and server.domain == domain:
            return _out_to(config, server.name, size_bytes)
    return None


def hop_into(config: NodeConfig, database: str) -> NextHop:
    """Straight into a mailbox database of this boundary, else to the boundary that has it."""
    holder = config.server_named(config.databases[database])
    if holder is None or is_inside(config, holder.name):
        return NextHop.into(database)
    return boundary_of(holder)


def _over(config: NodeConfig, group: NextHop, size_bytes: int) -> NextHop:
    limit_bytes = path_to(config, group).max_bytes
    if limit_bytes is not None and size_bytes > limit_bytes:
        return TOO_LARGE
    return stop_on_the_way(config, group)


def _out_to(config: NodeConfig, server: str, size_bytes: int) -> NextHop:
    """By the connector that costs least, with the path to its nearest source."""
    straight = NextHop(DeliveryType.EXTERNAL, server)
    connectors = [each for each in config.network.connectors if each.smart_host == server]
    if not connectors:
        return straight
    wide = [each for each in connectors if each.max_bytes is None or size_bytes <= each.max_bytes]
    if not wide:
        return TOO_LARGE
    chosen = min(wide, key=lambda each: _cost(config, each))
    return (
        straight if config.me.name in chosen.sources else _over(config, _group(chosen), size_bytes)
    )


def _cost(config: NodeConfig, connector: SendConnector) -> tuple[int, bool, str]:
    """Of two that cost the same, one of this server's own."""
    is_own = config.me.name in connector.sources
    path_cost = 0 if is_own else path_to(config, _group(connector)).cost
    return path_cost + connector.cost, not is_own, connector.name


def _group(connector: SendConnector) -> NextHop:
    return NextHop(DeliveryType.CONNECTOR_SOURCES, connector.name)
