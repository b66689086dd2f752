"""Rows of the message tracking log, one function a kind of message (TL-1, TL-2)."""

from __future__ import annotations

from nodes.core.engine.work import Work
from nodes.core.interface.effects import LogTracking
from nodes.core.model.lab_time import iso
from nodes.core.model.message import Fork, PrimaryMessage, ShadowMessage
from nodes.core.model.next_hop import NextHop
from nodes.core.model.resubmit_request import KeptCopy, ResubmitDemand, SafetyNetSource

Custom = tuple[tuple[str, str | int], ...]


def primary_row(
    event: str,
    source: str,
    message: PrimaryMessage,
    *,
    recipients: tuple[str, ...] | None = None,
    source_context: str = "",
    server: str = "",
    client_address: str = "",
    recipient_status: str = "",
    reference: str = "",
    custom: Custom = (),
    related_recipient: str = "",
) -> LogTracking:
    """A row about a primary message; all its envelope recipients unless `recipients` names
    fewer.
    """
    return LogTracking(
        event,
        source,
        message.internal_id,
        message.network_message_id,
        message.header,
        message.envelope,
        message.size_bytes,
        message.envelope.recipients if recipients is None else recipients,
        source_context,
        server,
        client_address,
        recipient_status,
        reference,
        custom,
        related_recipient,
    )


def expand_row(message: PrimaryMessage, group: str, members: tuple[str, ...]) -> LogTracking:
    """EXPAND: the members took the place of the group (F§1.4)."""
    return primary_row(
        "EXPAND",
        "ROUTING",
        message,
        recipients=members,
        recipient_status="250 2.1.5 RESOLVER.GRP.Expanded",
        related_recipient=group,
        reference=group,
    )


def duplicate_expand_row(
    message: PrimaryMessage, group: str, members: tuple[str, ...]
) -> LogTracking:
    """DUPLICATEEXPAND: these members of the group were recipients already (RT-6)."""
    return primary_row(
        "DUPLICATEEXPAND",
        "ROUTING",
        message,
        recipients=members,
        related_recipient=group,
        reference=group,
    )


def converted_row(message: PrimaryMessage, encoder: str) -> LogTracking:
    """TRANSFER: what is stored for its recipients is what content conversion made of it (F§1.4)."""
    recipients = tuple(dict.fromkeys(each for fork in message.forks for each in fork.recipients))
    context = f"ByteEncoderTypeFor7BitCharsets:{encoder}"
    return primary_row(
        "TRANSFER", "ROUTING", message, recipients=recipients, source_context=context
    )


def send_row(
    message: PrimaryMessage, next_hop: NextHop, delivered: tuple[str, ...], reply: str, server: str
) -> LogTracking:
    """SEND: `server` took it for these recipients."""
    return primary_row(
        "SEND",
        "SMTP",
        message,
        recipients=delivered,
        source_context=reply,
        server=server,
        custom=(("Fork", str(next_hop)),),
    )


def suppressed_row(
    message: PrimaryMessage, recipients: tuple[str, ...], status: str
) -> LogTracking:
    """SUPPRESSED: nobody is sent a DSN about what was resubmitted (SN-10)."""
    return primary_row(
        "SUPPRESSED",
        "DSN",
        message,
        recipients=recipients,
        source_context=message.resubmit_request or "",
        recipient_status=status,
    )


def defer_row(message: PrimaryMessage, fork: Fork, reason: str) -> LogTracking:
    """DEFER: a fork waits for its retry."""
    custom = (("Fork", str(fork.next_hop)),)
    return primary_row(
        "DEFER",
        "QUEUE",
        message,
        recipients=fork.recipients,
        source_context=reason,
        custom=custom,
    )


def log_mailbox_delivery(
    work: Work,
    message: PrimaryMessage,
    database: str,
    delivered: tuple[str, ...],
    duplicates: tuple[str, ...],
) -> None:
    """DELIVER and DUPLICATEDELIVER rows of one delivery into a mailbox database on this server
    (DD-1).
    """
    context = f"MDB:{database}"
    for event, recipients in (("DELIVER", delivered), ("DUPLICATEDELIVER", duplicates)):
        if recipients:
            work.emit(
                primary_row(
                    event, "STOREDRIVER", message, recipients=recipients, source_context=context
                )
            )


def resubmitted_row(message: PrimaryMessage, demand: ResubmitDemand, copy: KeptCopy) -> LogTracking:
    """RESUBMIT from source SAFETYNET: the request id as its cause, and what the copy was (TL-2).

    A shadow copy's time of delivery is as its primary's clock had it.
    """
    delivered_ms, is_own = copy.position.delivered_ms, demand.source is SafetyNetSource.PRIMARY
    custom = (
        ("Destination", demand.destination),
        ("SafetyNet", demand.source.value),
        ("DeliveredAt", delivered_ms if is_own else iso(delivered_ms)),
        ("CopyInternalId", str(copy.position.internal_id)),
    )
    return primary_row(
        "RESUBMIT", "SAFETYNET", message, source_context=demand.request_id, custom=custom
    )


def shadow_row(
    event: str,
    source: str,
    shadow: ShadowMessage,
    *,
    source_context: str = "",
    custom: Custom = (),
    internal_id: int | None = None,
) -> LogTracking:
    """A row about a shadow message; names its primary copy in custom-data."""
    key = shadow.key
    named = (
        ("PrimaryServer", key.primary),
        ("PrimaryDatabaseId", key.primary_database_id),
        ("PrimaryInternalId", str(key.primary_internal_id)),
    )
    return LogTracking(
        event,
        source,
        shadow.internal_id if internal_id is None else internal_id,
        shadow.network_message_id,
        shadow.header,
        shadow.envelope,
        shadow.size_bytes,
        shadow.envelope.recipients,
        source_context,
        custom=named + custom,
    )
