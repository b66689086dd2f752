"""The transport high availability boundary: who is inside, who may hold a shadow copy, and in which
order they are tried (SR-2, SR-3, SR-4).

It is the DAG, whole; for a server in no DAG it is its site (TP-3). To the others it is a next hop:
its delivery group (RT-3), a routable DAG or the mailbox delivery group of a site.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig, Server
from nodes.core.model.next_hop import DeliveryType, NextHop


def boundary_of(server: Server) -> NextHop:
    """The boundary that a mailbox server, or Active Manager, belongs to."""
    if server.dag is None:
        return NextHop(DeliveryType.MAILBOX_GROUP, server.site)
    return NextHop(DeliveryType.DAG, server.dag)


def is_transport(config: NodeConfig, name: str | None) -> bool:
    """Whether that server is a mailbox server of the organisation, of whatever boundary."""
    server = None if name is None else config.server_named(name)
    return server is not None and server.role == "mailbox"


def is_inside(config: NodeConfig, name: str | None) -> bool:
    """Whether that server is a mailbox server of this server's boundary."""
    server = None if name is None else config.server_named(name)
    return (
        server is not None
        and server.role == "mailbox"
        and boundary_of(server) == boundary_of(config.me)
    )


def servers_of(config: NodeConfig, boundary: NextHop) -> tuple[str, ...]:
    """Names of the mailbox servers of a boundary, in order."""
    servers = (s for s in config.servers if s.role == "mailbox")
    return tuple(sorted(s.name for s in servers if boundary_of(s) == boundary))


def members(config: NodeConfig, of: Server | None = None) -> tuple[Server, ...]:
    """The other mailbox servers of this server's boundary, or of that of `of`, by name."""
    me = of or config.me
    others = (s for s in config.servers if s.role == "mailbox" and s.name != me.name)
    inside = (s for s in others if boundary_of(s) == boundary_of(me))
    return tuple(sorted(inside, key=lambda server: server.name))


def shadow_attempts(config: NodeConfig, turn: int, avoid: str | None = None) -> tuple[str, ...]:
    """Names of the servers to try in turn; `turn` spreads the load, `avoid` goes to the end of its
    site's list.

    The two counts are attempts, not retries after a first (SR-3): remote ones first with
    PreferRemote, then local ones; a server's own preference wins. A DAG in one site and a server in
    no DAG use the local count and ignore the preference.
    """
    transport, me, preference = config.transport, config.me, config.server.shadow_message_preference
    inside = members(config)
    remote = [s.name for s in inside if s.site != me.site]
    local = [s.name for s in inside if s.site == me.site]
    remote_count = transport.max_retries_for_remote_site_shadow
    local_count = transport.max_retries_for_local_site_shadow
    if not remote or preference == "LocalOnly":
        return _in_turn(local, local_count, turn, avoid)
    if preference == "RemoteOnly":
        return _in_turn(remote, remote_count, turn, avoid)
    first = _in_turn(remote, remote_count, turn, avoid)
    return first + _in_turn(local, local_count, turn, avoid)


def _in_turn(names: list[str], count: int, turn: int, avoid: str | None) -> tuple[str, ...]:
    """`count` names, different ones while untried remain (SR-4)."""
    if not names:
        return ()
    start = turn % len(names)
    order = names[start:] + names[:start]
    order.sort(key=lambda name: name == avoid)
    return tuple(order[index % len(order)] for index in range(count))
