"""Inbound sessions: aiosmtpd owns the SMTP syntax, the core owns every answer that is a decision.

A command that needs a decision becomes an input and waits for its `SendReply`. A sender that goes
away in the middle becomes `ConnectionLost` and aborts nothing. Time-outs of the library are off:
deadlines are the core's.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from email.parser import BytesHeaderParser
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

from aiosmtpd.smtp import SMTP, Envelope, Session

from nodes.core import inputs
from nodes.core.config import NodeConfig
from nodes.core.message import BodyHandle, Header
from nodes.core.message import Envelope as CoreEnvelope
from nodes.core.replies import Reply
from nodes.shell import shadow_verbs
from nodes.shell.certificates import peer_named_by
from nodes.shell.shadow_verbs import SYNTAX, GrammarError

MAX_MESSAGE_BYTES = 36 << 20
IDENT = "Microsoft ESMTP MAIL Service"
BAD_ARGUMENTS = "501 5.5.4 Syntax: {}"


class Door(Protocol):
    """What an inbound session needs of the node it belongs to."""

    config: NodeConfig

    def give(self, happened: inputs.Input) -> None: ...

    def offer_body(self, content: bytes) -> BodyHandle: ...

    def lab_now_ms(self) -> int: ...


class InboundSessions:
    """The inbound sessions of one node, by name; carries the core's answers to them."""

    def __init__(self, door: Door, tls: ssl.SSLContext) -> None:
        self.door = door
        self.tls = tls
        self._open: dict[str, SmtpSession] = {}
        self._count = 0

    def protocol(self) -> SmtpSession:
        """A protocol object for a new connection; `asyncio` asks for one each."""
        self._count += 1
        return SmtpSession(self, f"in-{self._count}")

    def add(self, session: SmtpSession) -> None:
        self._open[session.name] = session

    def lost(self, session: SmtpSession) -> None:
        if self._open.pop(session.name, None) is not None:
            self.door.give(inputs.ConnectionLost(session.name))

    def reply(self, name: str, reply: Reply) -> None:
        session = self._open.get(name)
        if session is not None:
            session.answer(reply)

    def close(self, name: str, reply: Reply | None) -> None:
        session = self._open.get(name)
        if session is not None:
            session.close_with(reply)

    def close_all(self) -> None:
        for session in list(self._open.values()):
            session.close_with(None)


class SmtpSession(SMTP):
    """One inbound session. Each method `smtp_<VERB>` is one command."""

    def __init__(self, sessions: InboundSessions, name: str) -> None:
        super().__init__(
            self,
            hostname=sessions.door.config.me.fqdn,
            ident=IDENT,
            tls_context=sessions.tls,
            data_size_limit=MAX_MESSAGE_BYTES,
            loop=asyncio.get_running_loop(),
        )
        self.name = name
        self._sessions = sessions
        self._door = sessions.door
        self._answer: asyncio.Future[Reply] | None = None
        self._peer: str | None = None
        self._is_known = False
        self._client_address = ""
        self._reported_ms = 0
        self._report_every_ms = self._door.config.server.receive_inactivity_timeout_ms // 20

    # -------------------------------------------------------------- for the core

    def answer(self, reply: Reply) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(reply)

    def close_with(self, reply: Reply | None) -> None:
        """Say the 421, if any, and close. The loss is reported when the transport is closed."""
        transport = self.transport
        if not isinstance(transport, asyncio.WriteTransport) or transport.is_closing():
            return
        if reply is not None:
            transport.write(_wire(reply).encode() + b"\r\n")
        transport.close()

    async def _ask(self, happened: inputs.Input) -> str:
        """Give the core an input that it answers; the reply as the library wants it."""
        self._answer = asyncio.get_running_loop().create_future()
        self._door.give(happened)
        return _wire(await self._answer)

    # -------------------------------------------------------------- the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called again when TLS stands: then the client may have a name."""
        super().connection_made(transport)
        if not self._is_known:
            self._is_known = True
            self._sessions.add(self)
            address = transport.get_extra_info("peername") or ("",)
            self._client_address = str(address[0])
            self._door.give(inputs.SessionAccepted(self.name, self._client_address))

    def connection_lost(self, error: Exception | None) -> None:
        self._sessions.lost(self)
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        now_ms = self._door.lab_now_ms()
        if now_ms - self._reported_ms >= self._report_every_ms:
            self._reported_ms = now_ms
            self._door.give(inputs.SessionActive(self.name))

    def _reset_timeout(self, duration: float | None = None) -> None:
        """The library's own time-out counts wall seconds; deadlines are the core's. The library
        cancels the handle at the end, so there must be one.
        """
        if self._timeout_handle is None:
            self._timeout_handle = asyncio.get_running_loop().call_later(0, int)

    # -------------------------------------------------------------- commands

    async def smtp_EHLO(self, hostname: str) -> None:
        self._name_peer()
        self._door.give(inputs.TransactionReset(self.name))
        await super().smtp_EHLO(hostname)

    def _name_peer(self) -> None:
        if self._peer is None and self.transport is not None:
            certificate = self.transport.get_extra_info("peercert")
            self._peer = peer_named_by(certificate, self._door.config)
            if self._peer is not None:
                self._door.give(inputs.PeerAuthenticated(self.name, self._peer))

    async def handle_EHLO(
        self,
        _server: SMTP,
        session: Session,
        _envelope: Envelope,
        hostname: str,
        _responses: list[str],
    ) -> list[str]:
        """The keywords of F§2.1 that are true here; XSHADOWREQUEST is for servers alone (TL-5)."""
        session.host_name = hostname
        keywords = [f"SIZE {MAX_MESSAGE_BYTES}", "8BITMIME"]
        if not session.ssl:
            keywords.append("STARTTLS")
        if self._peer is not None and self._door.config.transport.shadow_redundancy_enabled:
            keywords.append("XSHADOWREQUEST")
        lines = [f"{self._door.config.me.fqdn} Hello [{self._client_address}]", *keywords]
        return [f"250-{line}" for line in lines[:-1]] + [f"250 {lines[-1]}"]

    async def smtp_RSET(self, arg: str) -> None:
        self._door.give(inputs.TransactionReset(self.name))
        await super().smtp_RSET(arg)

    async def smtp_HELP(self, _arg: str) -> None:
        await self.push("502 5.3.3 Command not implemented")

    async def smtp_AUTH(self, _arg: str) -> None:
        await self.push("502 5.3.3 Command not implemented")

    async def smtp_VRFY(self, _arg: str) -> None:
        await self.push("252 2.1.5 Cannot VRFY user")

    async def smtp_XSHADOWREQUEST(self, arg: str | None) -> None:
        async def offer() -> str:
            asked = shadow_verbs.parse_shadow_request(arg)
            return await self._ask(
                inputs.ShadowRequested(
                    self.name,
                    asked.primary,
                    asked.database_id,
                    asked.internal_id,
                    asked.network_message_id,
                )
            )

        await self._own_verb(shadow_verbs.XSHADOWREQUEST, offer)

    async def smtp_XDELIVER(self, arg: str | None) -> None:
        async def offer() -> str:
            asked = shadow_verbs.parse_delivery(arg)
            return await self._ask(
                inputs.DeliveryRequested(self.name, asked.database, asked.network_message_id)
            )

        await self._own_verb(shadow_verbs.XDELIVER, offer)

    async def smtp_XQDISCARD(self, arg: str | None) -> None:
        async def offer() -> str:
            asked = shadow_verbs.parse_discard_question(arg)
            return await self._ask(
                inputs.DiscardAsked(
                    self.name,
                    asked.asking_server,
                    asked.known_database_id,
                    asked.confirmed_sequence,
                )
            )

        await self._own_verb(shadow_verbs.XQDISCARD, offer)

    async def smtp_XQUERYDISCARD(self, arg: str | None) -> None:
        """The name that the documentation of 2010 uses (F§2.2)."""
        await self.smtp_XQDISCARD(arg)

    async def _own_verb(self, verb: str, offer: Callable[[], Any]) -> None:
        """Who is not a server of the organisation learns nothing, not even the grammar (TL-6)."""
        if self._peer is None:
            await self.push("550 5.7.1 Not authorized")
            return
        try:
            await self.push(await offer())
        except GrammarError:
            await self.push(BAD_ARGUMENTS.format(SYNTAX[verb]))

    # -------------------------------------------------------------- mail

    async def handle_RCPT(
        self,
        _server: SMTP,
        _session: Session,
        envelope: Envelope,
        address: str,
        _options: list[str],
    ) -> str:
        reply = await self._ask(inputs.RecipientOffered(self.name, address))
        if reply.startswith("250"):
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        offered = inputs.MessageOffered(
            self.name,
            CoreEnvelope(envelope.mail_from or "", tuple(envelope.rcpt_tos)),
            header_of(content),
            len(content),
            self._door.offer_body(content),
        )
        return await self._ask(offered)

    async def handle_exception(self, error: Exception) -> str:
        return f"451 4.3.0 {type(error).__name__}"


def header_of(content: bytes) -> Header:
    """Message-Id, client submit time and subject of a message; what is missing is empty or None."""
    parsed = BytesHeaderParser().parsebytes(content)
    message_id = str(parsed.get("Message-ID", "")).strip()
    return Header(message_id, _submitted_ms(parsed.get("Date")), str(parsed.get("Subject", "")))


def _submitted_ms(date: str | None) -> int | None:
    try:
        return None if date is None else round(parsedate_to_datetime(date).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _wire(reply: Reply) -> str:
    *first, last = reply.lines
    return "\r\n".join([*(f"{reply.code}-{line}" for line in first), f"{reply.code} {last}"])
