"""From envelope recipients to forks: resolve, then route, then bifurcate by next hop (RT-4,
RT-7).
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.model.message import Fork
from nodes.core.routing.routing import next_hop


def forks_of(config: NodeConfig, recipients: tuple[str, ...]) -> tuple[Fork, ...]:
    """One fork per next hop, in order of first recipient; each recipient once. Unroutable ones are
    left out.
    """
    by_hop: dict[str, dict[str, None]] = {}
    for recipient in recipients:
        hop = next_hop(config, recipient)
        if hop is not None:
            by_hop.setdefault(hop, {})[recipient.lower()] = None
    return tuple(Fork(hop, tuple(addresses)) for hop, addresses in by_hop.items())
