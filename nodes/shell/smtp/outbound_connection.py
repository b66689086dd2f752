"""One connection to another server: aiosmtplib's client, made to say when it is lost, to be cut at
once, and to take for an answer only what answers what was said.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress

from aiosmtplib import (
    SMTP,
    SMTPConnectResponseError,
    SMTPException,
    SMTPResponse,
    SMTPStatus,
)
from aiosmtplib.protocol import SMTPProtocol

from nodes.shell.smtp.address import Address
from nodes.shell.smtp.line_ends import on_the_wire
from nodes.shell.smtp.passing import unsent_bytes
from nodes.shell.smtp.whole_replies import WholeReplies

REPLY_LIMIT = 512  # RFC 5321 section 4.5.3.1.5
SAID_TOO_MUCH = "the peer has said more than it was asked for"


class OutOfStep(ValueError):
    """The peer has said what is no answer to what was said to it: nothing that it says next can be
    believed to be one.
    """


class Connection(SMTP):
    """aiosmtplib's client that reports when the connection is lost, can be cut, and takes no
    reply for the answer to a command that it does not belong to.
    """

    def __init__(self, address: Address, own_fqdn: str, lost: Callable[[], None]) -> None:
        super().__init__(
            hostname=address.host,
            port=address.port,
            local_hostname=own_fqdn,
            timeout=None,
            start_tls=False,
        )
        self._lost = lost
        self._below: asyncio.BaseTransport | None = None
        self._is_cut_short = False

    async def _create_connection(self, timeout: float | None) -> SMTPResponse:
        """The library's, with a protocol of ours."""
        assert self.loop is not None
        protocol = WholeReplies(self.loop, self._on_connection_lost)
        where = self.hostname or "", self.port or 0
        self.transport, self.protocol = await self.loop.create_connection(lambda: protocol, *where)
        banner = await protocol.read_response(timeout)
        if banner.code != SMTPStatus.ready:
            raise SMTPConnectResponseError(banner.code, banner.message)
        return banner

    async def reach(self) -> None:
        """Connect, and wait for the banner."""
        await self.connect()
        self._below = self.transport

    def _on_connection_lost(self, protocol: SMTPProtocol) -> None:
        super()._on_connection_lost(protocol)
        self._lost()

    def cut(self) -> None:
        """Close without a word, and without waiting for the peer, as TLS would."""
        with suppress(Exception):  # a transport half open or half closed: it is aborted below
            self.close()
        if isinstance(self._below, asyncio.WriteTransport):
            self._below.abort()

    @property
    def is_out_of_step(self) -> bool:
        """More was said than asked for, which the library would take for the next answer; or a
        message was refused before it had its end.
        """
        more = self.protocol is not None and bool(self.protocol._buffer)
        return more or self._is_cut_short

    def passed_bytes(self) -> int:
        """Of what was said, what the peer's system has taken."""
        written = self.protocol.written_bytes if isinstance(self.protocol, WholeReplies) else 0
        return written - unsent_bytes(self.transport, self._below)

    async def greet(self) -> None:
        self._stay_in_step()
        await self.ehlo()

    async def encrypt(self, context: ssl.SSLContext, name: str) -> None:
        self._stay_in_step()
        await self.starttls(tls_context=context, server_hostname=name)

    async def command(self, *words: str) -> SMTPResponse:
        """Any command but DATA. The reply is a yes (2yz) or a no (4yz, 5yz), RFC 5321 section
        4.3.2.
        """
        return _yes_or_no(await self._ask(*words))

    async def body(self, content: bytes) -> SMTPResponse:
        """DATA and the message, byte for byte and no faster than the peer takes it; the reply to
        either. A yes to DATA alone is none.
        """
        reply = await self._ask("DATA")
        if reply.code != 354:
            return _no(reply)
        self._stay_in_step()
        assert self.protocol is not None
        sending = asyncio.create_task(self._send(content))
        try:
            reply = _yes_or_no(await self.protocol.read_response())
        finally:
            self._is_cut_short = not sending.done()
            sending.cancel()
            await asyncio.wait([sending])
        if self._is_cut_short and reply.code < 400:
            raise OutOfStep(f"{reply.code} before the message had its end")
        return reply

    async def _send(self, content: bytes) -> None:
        """What cannot be sent, because nobody is there any more, the reply says as well."""
        protocol = self.protocol
        assert isinstance(protocol, WholeReplies)
        with suppress(SMTPException, OSError):
            for piece in on_the_wire(content):
                await protocol.drain()
                protocol.write(piece)

    async def _ask(self, *words: str) -> SMTPResponse:
        self._stay_in_step()
        return await self.execute_command(*(word.encode("ascii") for word in words))

    def _stay_in_step(self) -> None:
        if self.is_out_of_step:
            raise OutOfStep(SAID_TOO_MUCH)


def _yes_or_no(reply: SMTPResponse) -> SMTPResponse:
    return reply if 200 <= reply.code < 300 else _no(reply)


def _no(reply: SMTPResponse) -> SMTPResponse:
    if not 400 <= reply.code < 600:
        raise OutOfStep(f"{reply.code} is no answer to that: {one_line(reply.message)}")
    return reply


def one_line(text: str) -> str:
    """A peer's words as one line of clean text, no longer than a reply may be."""
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return " ".join(clean.split())[:REPLY_LIMIT]
