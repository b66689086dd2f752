"""Journal reports: of what a journaled mailbox database gets or sends, its journal mailbox hears
(envelope journaling; SM-10).

A report is a side effect of its message, as a DSN is: sent with the null reverse-path by the server
that categorises the message, with its envelope as text and the message itself attached. Its
Message-Id and Date follow from the message alone, so that a server that promotes the message, or
gets it once more, makes the same report, which duplicate detection drops (DD-1). It is not made for
what comes back from a Safety Net, where its own report is mail like any other, nor of mail with the
null reverse-path: reports are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from nodes.core.categorizer.categorizer import Categorizer
from nodes.core.config.config import NodeConfig
from nodes.core.delivery.dsn import LINE_LIMIT, Report, within_a_line
from nodes.core.model.identity import Identity
from nodes.core.model.lab_time import rfc5322
from nodes.core.model.message import Envelope, ForkState, Header, PrimaryMessage, attached
from nodes.core.routing.categorizer import forks_of

DOMAIN = "journal.report.generator"
LOGGED = ("RECEIVE", "AGENT", "Journaling")


class Journaling:
    """The journaling agent of one server."""

    def __init__(self, config: NodeConfig, identity: Identity, categorizer: Categorizer) -> None:
        self._config, self._identity, self._categorizer = config, identity, categorizer

    def report_again(self, message: PrimaryMessage, now_ms: int) -> Report | None:
        """After a restart: the report is written down with whatever becomes of a message first, so
        it may be missing where nothing has. One that was there is a duplicate.
        """
        is_whole = all(fork.state is ForkState.QUEUED for fork in message.forks)
        return self.report(message, now_ms) if is_whole else None

    def report(self, message: PrimaryMessage, now_ms: int) -> Report | None:
        """One for all journal mailboxes that are to hear of it; None where there is none."""
        is_first = message.envelope.sender and message.resubmit_request is None
        mailboxes = self._journal_mailboxes(message) if is_first else ()
        if not mailboxes:
            return None
        header = _header(message)
        text = "\r\n".join(self._lines(message, header, mailboxes))
        internal_id = self._identity.next_internal_id()
        body = attached(f"db:{message.internal_id}", _boundary(header), text)
        report = PrimaryMessage(
            internal_id=internal_id,
            network_message_id=self._identity.network_message_id(internal_id),
            header=header,
            envelope=Envelope("", mailboxes),
            size_bytes=len(text.encode()) + message.size_bytes,
            received_ms=now_ms,
            shadow_server=None,
            forks=forks_of(self._config, mailboxes),
            side_effect_of=message.internal_id,
        )
        return Report(report, body, logged_as=LOGGED)

    def _journal_mailboxes(self, message: PrimaryMessage) -> tuple[str, ...]:
        """Each once: of the databases of its recipients, then of its sender's."""
        config, sender = self._config, message.envelope.sender.lower()
        databases = (config.mailboxes.get(each, "") for each in (*_recipients(message), sender))
        journals = (config.journal_recipients.get(each, "") for each in databases)
        return tuple(dict.fromkeys(filter(None, journals)))

    def _lines(
        self, message: PrimaryMessage, header: Header, mailboxes: tuple[str, ...]
    ) -> Iterator[str]:
        boundary = _boundary(header)
        lines = (
            f"From: postmaster@{self._config.accepted_domain}",
            *(f"To: {mailbox}" for mailbox in mailboxes[:1]),
            f"Subject: {header.subject}",
            f"Message-ID: {header.message_id}",
            *((f"Date: {rfc5322(header.date_ms)}",) if header.date_ms is not None else ()),
            "Auto-Submitted: auto-generated",
            "X-MS-Journal-Report:",
            "MIME-Version: 1.0",
            f'Content-Type: multipart/mixed; boundary="{boundary}"',
            "",
            f"--{boundary}",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: 8bit",
            "",
            f"Sender: {message.envelope.sender}",
            f"Subject: {header.subject}",
            f"Message-Id: {message.header.message_id}",
            *self._to(message),
            f"--{boundary}",
            "Content-Type: message/rfc822",
            "Content-Transfer-Encoding: 8bit",
            "",
            "",
        )
        return (line for line in lines if len(line.encode()) <= LINE_LIMIT)

    def _to(self, message: PrimaryMessage) -> Iterator[str]:
        """A line for each recipient, with the group that led to him."""
        through = self._categorizer.groups_of(message.envelope.recipients)
        for recipient in _recipients(message):
            group = through.get(recipient)
            yield f"To: {recipient}" + (f", Expanded: {group}" if group else "")


def _recipients(message: PrimaryMessage) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for fork in message.forks for each in fork.recipients))


def _header(message: PrimaryMessage) -> Header:
    """The same whoever makes it."""
    about = message.header
    digest = sha256(f"{about.message_id} {about.submitted_ms}".encode()).hexdigest()[:32]
    subject = within_a_line(about.subject)
    return Header(f"<{digest}@{DOMAIN}>", about.date_ms, subject)


def _boundary(header: Header) -> str:
    return header.message_id[1:].partition("@")[0]
