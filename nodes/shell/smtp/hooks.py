"""What aiosmtpd calls when a command is syntactically right."""

from __future__ import annotations

from aiosmtpd.smtp import Envelope, Session

from nodes.shell.smtp.inbound_connection import InboundConnection
from nodes.shell.smtp.message_data import R552_TOO_LARGE
from nodes.shell.smtp.syntax import (
    R501_NOT_UNDERSTOOD,
    R553_BAD_ADDRESS,
    declared_bytes,
    is_address,
)


class Hooks:
    """One object for all sessions."""

    async def handle_EHLO(
        self,
        server: InboundConnection,
        session: Session,
        envelope: Envelope,
        hostname: str,
        responses: list[str],
    ) -> list[str]:
        return server.greet(session, hostname)

    async def handle_HELO(
        self, server: InboundConnection, session: Session, envelope: Envelope, hostname: str
    ) -> str:
        return server.greet_plainly(session, hostname)

    def handle_STARTTLS(
        self, server: InboundConnection, session: Session, envelope: Envelope
    ) -> bool:
        server.encrypted(session)
        return True

    async def handle_MAIL(
        self,
        server: InboundConnection,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> bytes:
        if not is_address(address):
            return R553_BAD_ADDRESS
        if declared_bytes(options) > server.max_message_bytes:
            return R552_TOO_LARGE
        return await server.offer_sender(envelope, address)

    async def handle_RCPT(
        self,
        server: InboundConnection,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> bytes:
        return await server.offer_recipient(envelope, address)

    async def handle_DATA(
        self, server: InboundConnection, session: Session, envelope: Envelope
    ) -> bytes:
        return await server.offer_message(envelope)

    async def handle_exception(self, error: Exception) -> str:
        """The library's parser stumbled over a command; what we do ourselves does not raise."""
        return R501_NOT_UNDERSTOOD
