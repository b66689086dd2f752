"""Where a recipient's mail goes next: straight to the server of the active copy, or to the external
server (direct routing).

Next hops are `database:<name>` (SmtpDeliveryToMailbox) and `external:<server>` (a connector's
target), F§5.3.
"""

from __future__ import annotations

from nodes.core.config import NodeConfig


def next_hop(config: NodeConfig, address: str) -> str | None:
    """Next hop of an address, None where nobody serves it."""
    address = address.lower()
    database = config.mailboxes.get(address)
    if database is not None:
        return f"database:{database}"
    domain = address.rpartition("@")[2]
    for server in config.servers:
        if server.role == "external" and server.domain == domain:
            return f"external:{server.name}"
    return None


def database_of(hop: str) -> str | None:
    kind, _, name = hop.partition(":")
    return name if kind == "database" else None
