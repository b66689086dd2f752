"""Limits of the Receive connector on what is said in a session (F§3.3), and their replies (TL-5).

MaxRecipientsPerMessage and MaxReceiveSize are for whoever is outside: what a server of the
organisation has taken, the next one takes, also when groups are expanded by then. MaxHopCount and
MaxLocalHopCount end loops, of whichever servers (RFC 5321 section 6.3). The session itself counts
MaxProtocolErrors.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.interface.inputs import MessageOffered, RecipientOffered
from nodes.core.interface.replies import (
    R452_TOO_MANY_RECIPIENTS,
    R552_HEADER_TOO_LARGE,
    R552_MESSAGE_TOO_LARGE,
    R554_TOO_MANY_HOPS,
    R554_TOO_MANY_LOCAL_HOPS,
    Reply,
)
from nodes.core.model.octets import count_of

MESSAGE_ID_LIMIT = 998  # a line, RFC 5322 section 2.1.1


def recipient_refusal(
    config: NodeConfig, peer: str | None, offered: RecipientOffered
) -> Reply | None:
    """For one recipient too many; those before it are taken, and a sender that hears 452 sends to
    the others in another message (RFC 5321 section 4.5.3.1.10).
    """
    is_over = offered.taken >= config.server.limits.max_recipients_per_message
    return R452_TOO_MANY_RECIPIENTS if peer is None and is_over else None


def message_refusal(config: NodeConfig, peer: str | None, offered: MessageOffered) -> Reply | None:
    """A Message-Id is its message's identity (DD-1), so one that is longer than a line is refused
    and not cut.
    """
    if peer is None and offered.size_bytes > config.transport.max_receive_size_bytes:
        return R552_MESSAGE_TOO_LARGE
    if offered.hops > config.server.limits.max_hop_count:
        return R554_TOO_MANY_HOPS
    if 0 < config.server.limits.max_local_hop_count < offered.local_hops:
        return R554_TOO_MANY_LOCAL_HOPS
    too_long = count_of(offered.header.message_id) > MESSAGE_ID_LIMIT
    return R552_HEADER_TOO_LARGE if too_long else None
