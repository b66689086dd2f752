"""Delivery status notifications as messages of their own (SM-12; RFC 3464, kept to what a reader
needs).
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.model.identity import Identity
from nodes.core.model.lab_time import rfc5322
from nodes.core.model.message import BodyHandle, Envelope, Header, PrimaryMessage
from nodes.core.routing.categorizer import forks_of


def non_delivery_report(
    config: NodeConfig,
    identity: Identity,
    original: PrimaryMessage,
    recipients: tuple[str, ...],
    status: str,
    now_ms: int,
) -> tuple[PrimaryMessage, BodyHandle] | None:
    """The report to the sender of `original`, a side effect of it (SM-10); None where there is
    nobody to tell.

    Nobody is told about a message with the null reverse-path (RFC 5321 section 6.1), nor a sender
    without a route.
    """
    sender = original.envelope.sender
    forks = forks_of(config, (sender,)) if sender else ()
    if not forks:
        return None
    internal_id = identity.next_internal_id()
    message_id = f"<{identity.network_message_id(internal_id)}@{config.me.fqdn}>"
    text = _text(config, original, recipients, status, message_id, now_ms)
    message = PrimaryMessage(
        internal_id=internal_id,
        network_message_id=identity.network_message_id(internal_id),
        header=Header(
            message_id, now_ms // 1000 * 1000, f"Undeliverable: {original.header.subject}"
        ),
        envelope=Envelope("", (sender,)),
        size_bytes=len(text.encode()),
        received_ms=now_ms,
        shadow_server=None,
        forks=forks,
        side_effect_of=original.internal_id,
    )
    return message, f"made:{text}"


def _text(
    config: NodeConfig,
    original: PrimaryMessage,
    recipients: tuple[str, ...],
    status: str,
    message_id: str,
    now_ms: int,
) -> str:
    lines = [
        f"From: postmaster@{config.accepted_domain}",
        f"To: {original.envelope.sender}",
        f"Subject: Undeliverable: {original.header.subject}",
        f"Message-ID: {message_id}",
        f"In-Reply-To: {original.header.message_id}",
        f"Date: {rfc5322(now_ms)}",
        "Auto-Submitted: auto-replied",
        "",
        "Delivery has failed to these recipients:",
        *(f"  {recipient}: {status}" for recipient in recipients),
        "",
    ]
    return "\r\n".join(lines)
