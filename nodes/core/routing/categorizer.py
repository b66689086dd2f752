"""From envelope recipients to forks: resolve, then route, then bifurcate by next hop (RT-4,
RT-7).
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.model.message import Fork
from nodes.core.model.next_hop import NextHop
from nodes.core.routing.routing import next_hop


def forks_of(
    config: NodeConfig, recipients: tuple[str, ...], size_bytes: int = 0
) -> tuple[Fork, ...]:
    """One fork per next hop of a message of that size, in order of first recipient; each recipient
    once. Those whom nobody serves are left out. A mailbox here has its address in lower case; whose
    case means what outside, only the server there knows (RFC 5321 section 2.4).
    """
    by_hop: dict[NextHop, dict[str, None]] = {}
    for recipient in recipients:
        hop = next_hop(config, recipient, size_bytes)
        if hop is not None:
            is_ours = recipient.lower() in config.mailboxes
            address = recipient.lower() if is_ours else recipient
            by_hop.setdefault(hop, {})[address] = None
    return tuple(Fork(hop, tuple(addresses)) for hop, addresses in by_hop.items())
