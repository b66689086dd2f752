"""A server outside the organisation: plain SMTP that knows nothing of shadow redundancy (TP-1).

    python3 -m nodes.shell.external CONFIG

It takes mail for its own domain, and a message is a line of `received.jsonl`, durable, before its
250. It keeps no bodies, only what they digest to, and delivers nothing on. STARTTLS is offered
where a certificate is there.
"""

from __future__ import annotations

if __name__ == "__main__":  # before everything that takes its time
    from nodes.shell.signals import keep_signals

    keep_signals()

import asyncio
import json
import ssl
import sys
from pathlib import Path
from weakref import WeakSet

from aiosmtpd.smtp import SMTP, Envelope, Session

from nodes.core.config.error import ConfigurationError
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.replies import R550_NO_SUCH_RECIPIENT, as_shown
from nodes.shell.clock import POLL_S, NodeClock
from nodes.shell.config_file import NodeFile
from nodes.shell.logs.files import LineFile, LogFolder
from nodes.shell.logs.logs import Logs
from nodes.shell.overdue import cut_overdue
from nodes.shell.process import EX_CANTCREAT, EX_USAGE, CannotStart, serve
from nodes.shell.signals import heed, leave
from nodes.shell.smtp.headers import read_header
from nodes.shell.smtp.listener import Listener, bind
from nodes.shell.smtp.message_data import R552_TOO_LARGE
from nodes.shell.smtp.syntax import (
    R250_SENDER_OK,
    R501_NOT_UNDERSTOOD,
    R553_BAD_ADDRESS,
    SmtpSyntax,
    declared_bytes,
    is_address,
    keywords,
    on_the_wire,
    sender_of,
)
from nodes.store.dsn_fields import columns_of
from nodes.store.message_digest import columns_of_content

RECEIVED = "received.jsonl"


class Received:
    """Handler of aiosmtpd: writes down every message for `domain`."""

    def __init__(self, file: LineFile, clock: NodeClock, fqdn: str, domain: str) -> None:
        self._file = file
        self._clock = clock
        self._fqdn = fqdn
        self._ending = f"@{domain.lower()}"

    async def handle_EHLO(
        self,
        server: SmtpSyntax,
        session: Session,
        envelope: Envelope,
        hostname: str,
        responses: list[str],
    ) -> list[str]:
        session.host_name = hostname
        offered = [f"SIZE {server.max_message_bytes}", "8BITMIME"]
        if server.tls_context is not None and not server.is_encrypted:
            offered.append("STARTTLS")
        return keywords(f"{self._fqdn} Hello {hostname}", offered)

    async def handle_MAIL(
        self,
        server: SmtpSyntax,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> bytes:
        if declared_bytes(options) > server.max_message_bytes:
            return R552_TOO_LARGE
        envelope.mail_from = address
        return R250_SENDER_OK

    async def handle_RCPT(
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> bytes:
        if not is_address(address):
            return R553_BAD_ADDRESS
        if not address.lower().endswith(self._ending):
            return on_the_wire(R550_NO_SUCH_RECIPIENT)
        envelope.rcpt_tos.append(address)
        return b"250 2.1.5 Recipient OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> bytes:
        content = envelope.original_content or b""
        message_id = read_header(content).message_id
        date_ms, mono_ns = self._clock.stamp()
        record = {
            "message_id": message_id,
            "sender": sender_of(envelope),
            "recipients": envelope.rcpt_tos,
            "received_ms": date_ms - self._clock.origin_ms,
            "mono_ns": mono_ns,
            "size_bytes": len(content),
            "peer": session.host_name or "",
            **columns_of_content(content),
            **columns_of(content),
        }
        try:
            self._file.append(json.dumps(record))
            self._file.sync()
        except OSError:
            return b"452 4.3.1 Insufficient system storage"
        return f"250 2.0.0 {as_shown(message_id)} accepted".encode("ascii", "replace")

    async def handle_exception(self, error: Exception) -> str:
        """The library's parser stumbled over a command."""
        return R501_NOT_UNDERSTOOD


async def _live(file: NodeFile) -> int:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    heed(loop, stopped.set)
    clock = NodeClock(file.clock)
    handler, logs, tls = _handler(file, clock), _logs(file, clock), _tls(file)
    fqdn = file.node.me.fqdn

    connections: WeakSet[SmtpSyntax] = WeakSet()

    def connected() -> SmtpSyntax:
        connection = SmtpSyntax(handler, hostname=fqdn, ident="ESMTP", tls=tls)
        connections.add(connection)
        return connection

    with bind(file.listen) as port:
        listener = Listener(port, connected, lambda: connections)
        cutting = asyncio.create_task(cut_overdue(lambda: connections, file.node.server))
        logs.lifecycle(LogLifecycle("started", (("port", int(port.getsockname()[1])),)))
        while not stopped.is_set() and not clock.is_set_going:
            await asyncio.sleep(POLL_S)
            clock.look_for_start()
        await stopped.wait()
        listener.close()
        cutting.cancel()
    logs.lifecycle(LogLifecycle("stopped"))
    return 0


def _handler(file: NodeFile, clock: NodeClock) -> Received:
    domain = file.node.me.domain
    if domain is None:
        raise ConfigurationError("Domain: is missing", "an external server takes mail for a domain")
    try:
        file.data.mkdir(parents=True, exist_ok=True)
        return Received(LineFile(file.data / RECEIVED), clock, file.node.me.fqdn, domain)
    except OSError as error:
        raise CannotStart(EX_CANTCREAT, str(error)) from error


def _logs(file: NodeFile, clock: NodeClock) -> Logs:
    try:
        return Logs(LogFolder(file.logs), file.node, {}, clock)
    except OSError as error:
        raise CannotStart(EX_CANTCREAT, str(error)) from error


def _tls(file: NodeFile) -> ssl.SSLContext | None:
    if file.certificates is None or not file.certificates.certificate.exists():
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(file.certificates.certificate, file.certificates.key)
    except OSError as error:
        raise ConfigurationError(f"Tls: {error}", "") from error
    return context


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m nodes.shell.external CONFIG", file=sys.stderr)
        return EX_USAGE
    return serve(Path(arguments[0]), "external", _live)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
