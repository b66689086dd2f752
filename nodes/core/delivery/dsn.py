"""Delivery status notifications as messages of their own: what failed, and what is delayed (SM-12,
RT-5; RFC 3464, kept to what a reader needs).
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.config import NodeConfig
from nodes.core.model.identity import Identity
from nodes.core.model.lab_time import rfc5322
from nodes.core.model.message import BodyHandle, Envelope, Header, PrimaryMessage
from nodes.core.routing.categorizer import forks_of

FAILED = "Undeliverable", "Delivery has failed to these recipients:"
DELAYED = (
    "Delivery delayed",
    "Delivery to these recipients is delayed. Nothing needs to be sent again; it is still tried:",
)
DELAYED_STATUS = "400 4.4.7 Message delayed"


@dataclass(frozen=True, slots=True)
class Report:
    """A DSN and its content; `is_of_delay`: what it is about may still be delivered."""

    message: PrimaryMessage
    body: BodyHandle
    is_of_delay: bool = False


def non_delivery_report(
    config: NodeConfig,
    identity: Identity,
    original: PrimaryMessage,
    recipients: tuple[str, ...],
    status: str,
    now_ms: int,
) -> Report | None:
    """The report to the sender of `original`, a side effect of it (SM-10); None where there is
    nobody to tell.
    """
    made = _report(config, identity, original, recipients, status, now_ms, FAILED)
    return Report(*made) if made is not None else None


def delay_report(
    config: NodeConfig,
    identity: Identity,
    original: PrimaryMessage,
    recipients: tuple[str, ...],
    now_ms: int,
) -> Report | None:
    """The same of what waits for longer than DelayNotificationTimeout (RT-5)."""
    made = _report(config, identity, original, recipients, DELAYED_STATUS, now_ms, DELAYED)
    return Report(*made, is_of_delay=True) if made is not None else None


def _report(
    config: NodeConfig,
    identity: Identity,
    original: PrimaryMessage,
    recipients: tuple[str, ...],
    status: str,
    now_ms: int,
    words: tuple[str, str],
) -> tuple[PrimaryMessage, BodyHandle] | None:
    """Nobody gets one about a message with the null reverse-path (RFC 5321 section 6.1), nor a
    sender without a route.
    """
    sender = original.envelope.sender
    forks = forks_of(config, (sender,)) if sender else ()
    if not forks:
        return None
    internal_id = identity.next_internal_id()
    message_id = f"<{identity.network_message_id(internal_id)}@{config.me.fqdn}>"
    said, sentence = words
    header = Header(message_id, now_ms // 1000 * 1000, f"{said}: {original.header.subject}")
    about = (f"  {recipient}: {status}" for recipient in recipients)
    text = _text(config, original, header, (sentence, *about), now_ms)
    message = PrimaryMessage(
        internal_id=internal_id,
        network_message_id=identity.network_message_id(internal_id),
        header=header,
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
    header: Header,
    lines: tuple[str, ...],
    now_ms: int,
) -> str:
    head = [
        f"From: postmaster@{config.accepted_domain}",
        f"To: {original.envelope.sender}",
        f"Subject: {header.subject}",
        f"Message-ID: {header.message_id}",
        f"In-Reply-To: {original.header.message_id}",
        f"Date: {rfc5322(now_ms)}",
        "Auto-Submitted: auto-replied",
    ]
    return "\r\n".join([*head, "", *lines, ""])
