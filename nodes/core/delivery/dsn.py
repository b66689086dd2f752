"""Delivery status notifications as messages of their own: what failed, and what is delayed (SM-12,
RT-5). A sentence for people, and the fields of RFC 3464 for programs; not the original's header. No
line is longer than a line may be, or the next server would refuse it.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.config import NodeConfig
from nodes.core.model.identity import Identity
from nodes.core.model.lab_time import rfc5322
from nodes.core.model.message import BodyHandle, Envelope, Header, PrimaryMessage
from nodes.core.model.octets import is_plain
from nodes.core.routing.categorizer import forks_of


@dataclass(frozen=True, slots=True)
class Wording:
    """`action` as in RFC 3464; `status` where a reply has no enhanced code."""

    subject: str
    sentence: str
    action: str
    status: str


FAILED = Wording(
    "Undeliverable", "Delivery has failed to these recipients:", action="failed", status="5.0.0"
)
DELAYED = Wording(
    "Delivery delayed",
    "Delivery to these recipients is delayed. Nothing needs to be sent again; it is still tried:",
    action="delayed",
    status="4.0.0",
)
LINE_LIMIT = 998  # RFC 5322 section 2.1.1, in octets
DELAY_LOGGED_AS = ("DSN", "DSN", "delayed")
DELAYED_STATUS = "400 4.4.7 Message delayed"


@dataclass(frozen=True, slots=True)
class Report:
    """A side effect of a message, a DSN or a journal report, and its content; `logged_as`: event,
    source and source-context of its row. `is_of_delay`: what it is about may still be delivered.
    """

    message: PrimaryMessage
    body: BodyHandle
    is_of_delay: bool = False
    logged_as: tuple[str, str, str] = ("DSN", "DSN", "")


def non_delivery_report(
    config: NodeConfig,
    identity: Identity,
    original: PrimaryMessage,
    recipients: tuple[str, ...],
    status: str,
    now_ms: int,
) -> Report | None:
    """The report to the sender of `original`, a side effect of it (SM-10); None where there is
    nobody to inform.
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
    """The same of what waits for longer than DelayNotificationTimeout (RT-5), where senders of that
    kind are to hear of it: InternalDelayDsnEnabled, ExternalDelayDsnEnabled.
    """
    limits, sender = config.transport, original.envelope.sender.lower()
    is_internal = sender in config.mailboxes
    enabled = limits.internal_delay_dsn_enabled, limits.external_delay_dsn_enabled
    if not enabled[0 if is_internal else 1]:
        return None
    made = _report(config, identity, original, recipients, DELAYED_STATUS, now_ms, DELAYED)
    return Report(*made, True, DELAY_LOGGED_AS) if made is not None else None


def _report(
    config: NodeConfig,
    identity: Identity,
    original: PrimaryMessage,
    recipients: tuple[str, ...],
    status: str,
    now_ms: int,
    wording: Wording,
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
    subject = within_a_line(f"{wording.subject}: {original.header.subject}")
    header = Header(message_id, now_ms // 1000 * 1000, subject)
    text = _text(config, original, header, recipients, status, now_ms, wording)
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
    recipients: tuple[str, ...],
    status: str,
    now_ms: int,
    wording: Wording,
) -> str:
    boundary, about = header.message_id[1:].partition("@")[0], original.header.message_id
    head = (
        f"From: postmaster@{config.accepted_domain}",
        f"To: {original.envelope.sender}",
        f"Subject: {header.subject}",
        f"Message-ID: {header.message_id}",
        *((f"In-Reply-To: {about}", f"References: {about}") if is_plain(about) else ()),
        f"Date: {rfc5322(now_ms)}",
        "Auto-Submitted: auto-replied",
        "MIME-Version: 1.0",
        f'Content-Type: multipart/report; report-type=delivery-status; boundary="{boundary}"',
    )
    said = ("", wording.sentence, *(f"  {recipient}: {status}" for recipient in recipients))
    fields = ["", f"Reporting-MTA: dns; {config.me.fqdn}"]
    for recipient in recipients:
        fields += _fields_of(recipient, status, wording)
    parts = (("text/plain; charset=us-ascii", said), ("message/delivery-status", fields))
    lines = [*head, ""]
    for content_type, content in parts:
        lines += [f"--{boundary}", f"Content-Type: {content_type}", *content, ""]
    whole = [line for line in lines if len(line.encode()) <= LINE_LIMIT]
    return "\r\n".join([*whole, f"--{boundary}--", ""])


def within_a_line(subject: str) -> str:
    """As much of it as a line has room for."""
    room = LINE_LIMIT - len("Subject: ")
    return subject.encode()[:room].decode("utf-8", "ignore")


def _fields_of(recipient: str, status: str, wording: Wording) -> tuple[str, ...]:
    """Of one recipient (RFC 3464 section 2.3); `status` is a reply's code and text."""
    enhanced = status.split(" ", 2)[1:2]
    return (
        "",
        f"Final-Recipient: rfc822; {recipient}",
        f"Action: {wording.action}",
        f"Status: {enhanced[0] if _is_enhanced(enhanced) else wording.status}",
        f"Diagnostic-Code: smtp; {status}",
    )


def _is_enhanced(words: list[str]) -> bool:
    """Whether it is an enhanced status code, as 4.4.7."""
    return [each.isdecimal() for word in words for each in word.split(".")] == [True] * 3
