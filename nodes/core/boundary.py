"""Who may hold a shadow copy, and in which order they are tried (SR-2, SR-3, SR-4).

The transport high availability boundary is the DAG, whole; for a server in no DAG it is its site
(TP-3).
"""

from __future__ import annotations

from nodes.core.config import NodeConfig, Server


def members(config: NodeConfig, of: Server | None = None) -> tuple[Server, ...]:
    """The other mailbox servers of this server's boundary, or of that of `of`, by name."""
    me = of or config.me
    others = (s for s in config.servers if s.role == "mailbox" and s.name != me.name)
    inside = (s for s in others if s.dag == me.dag and (me.dag is not None or s.site == me.site))
    return tuple(sorted(inside, key=lambda server: server.name))


def shadow_attempts(config: NodeConfig, turn: int, avoid: str | None = None) -> tuple[str, ...]:
    """Names of the servers to try in turn; `turn` spreads the load, `avoid` goes to the end of its
    site's list.

    The two counts are attempts, not retries after a first (SR-3): remote ones first with
    PreferRemote, then local ones. A DAG in one site and a server in no DAG use the local count and
    ignore the preference.
    """
    transport, me = config.transport, config.me
    inside = members(config)
    remote = [s.name for s in inside if s.site != me.site]
    local = [s.name for s in inside if s.site == me.site]
    remote_count = transport.max_retries_for_remote_site_shadow
    local_count = transport.max_retries_for_local_site_shadow
    if not remote:
        return _in_turn(local, local_count, turn, avoid)
    if transport.shadow_message_preference == "LocalOnly":
        return _in_turn(local, local_count, turn, avoid)
    if transport.shadow_message_preference == "RemoteOnly":
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
