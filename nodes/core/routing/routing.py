"""Where a recipient's mail goes next (direct routing, RT-2, RT-3).

Next hops are, as delivery types of F§5.3:

- `database:<name>` (SmtpDeliveryToMailbox): inside this server's own boundary, in one hop to the
  server of the active copy (SR-12).
- `dag:<DAG>` (SmtpRelayToDag) and `site:<site>` (SmtpRelayToMailboxDeliveryGroup): another
  boundary, where some server receives the message as from outside and makes it redundant anew
  (SR-10). The server of the active copy of the first recipient's database is tried first, as far as
  this server knows it: which copy is active is announced inside a boundary alone. The others follow
  by name; whichever takes it knows the active copy.
- `external:<server>`: a connector's target.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.routing.boundary import boundary_of, is_inside


def next_hop(config: NodeConfig, address: str) -> NextHop | None:
    """Next hop of an address, None where nobody serves it."""
    address = address.lower()
    database = config.mailboxes.get(address)
    if database is not None:
        return hop_into(config, database)
    domain = address.rpartition("@")[2]
    for server in config.servers:
        if server.role == "external" and server.domain == domain:
            return NextHop(DeliveryType.EXTERNAL, server.name)
    return None


def hop_into(config: NodeConfig, database: str) -> NextHop:
    """Straight into a mailbox database of this boundary, else to the boundary that has it."""
    holder = config.server_named(config.databases[database])
    if holder is None or is_inside(config, holder.name):
        return NextHop.into(database)
    return boundary_of(holder)
