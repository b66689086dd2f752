"""Limits of the organisation on a message: MaxRecipientEnvelopeLimit and MaxSendSize (F§3.1).

What exceeds one has no way to anybody, and its sender gets a DSN that names the limit, as what is
larger than a site link permits (F§5.2). Counted is whom the envelope names, a group as one, before
groups are expanded. MaxSendSize is for what a mailbox of the organisation sends; what comes from
outside has MaxReceiveSize, at the session. The null reverse-path sends nothing that exceeds either.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.model.message import Envelope
from nodes.core.model.next_hop import DeliveryType, NextHop

TOO_MANY_RECIPIENTS = NextHop(DeliveryType.UNREACHABLE, "RESOLVER.ADR.RecipLimit")
TOO_LARGE_TO_SEND = NextHop(DeliveryType.UNREACHABLE, "RESOLVER.RST.SendSizeLimit.Org")


def limit_exceeded(config: NodeConfig, envelope: Envelope, size_bytes: int) -> NextHop | None:
    """The next hop that stands for the limit that a message of `size_bytes` exceeds, if any."""
    limits, sender = config.transport, envelope.sender.lower()
    if len(set(envelope.recipients)) > limits.max_recipient_envelope_limit:
        return TOO_MANY_RECIPIENTS
    is_ours = sender in config.mailboxes
    return TOO_LARGE_TO_SEND if is_ours and size_bytes > limits.max_send_size_bytes else None
