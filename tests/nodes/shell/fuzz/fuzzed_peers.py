"""Servers that a node connects to. They do all as they should, except in conversations that are
drawn for them; and they know what they were given in whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import struct
from collections import deque

from tests.nodes.shell.fuzz.fuzzed_replies import CLOSES, FALLS_SILENT, RESETS, Conversation, Spoilt
from tests.nodes.shell.organisation import ORIGIN_MS

MESSAGE_ID = re.compile(rb"^Message-ID: (<[^>]+>)", re.MULTILINE | re.IGNORECASE)
PIECES_MAX = 40
BANNER = b"220 peer ESMTP\r\n"
ANSWERS = {
    b"MAIL": b"250 2.1.0 Sender OK\r\n",
    b"RCPT": b"250 2.1.5 Recipient OK\r\n",
    b"RSET": b"250 2.0.0 Resetting\r\n",
    b"DATA": b"354 Start mail input; end with <CRLF>.<CRLF>\r\n",
    b"QUIT": b"221 2.0.0 Service closing\r\n",
    b"XSHADOWREQUEST": b"250 2.0.0 Shadow may follow\r\n",
    b"XDELIVER": b"250 2.0.0 Delivery may follow\r\n",
    b"XNETWORKMESSAGEID": b"250 2.0.0 Message may follow\r\n",
    b"XLOG": b"250 2.0.0 Log may follow\r\n",
    b"XSEED": b"250 2.0.0 Seed may follow\r\n",
    b"XQDISCARD": b"250-DatabaseId=db\r\n250 Done 0\r\n",
    b"XRESUBMIT": b"250 2.0.0 completed 0\r\n",
    b"XCOPYSTATUS": b"250 2.0.0 passive 1 0 %d %d\r\n" % (ORIGIN_MS, ORIGIN_MS),
    b"XMOUNT": b"250 2.0.0 %d 0 %d\r\n" % (ORIGIN_MS, ORIGIN_MS),
    b"XDISMOUNT": b"250 2.0.0 0 %d\r\n" % ORIGIN_MS,
    b"XACTIVE": b"250 2.0.0 %d\r\n" % ORIGIN_MS,
}


class Peer:
    """One server. `drawn` has the conversations still to be held, one a connection; `has` the
    Message-Ids that have come to their dot. `tls`: None without STARTTLS.
    """

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self.drawn: deque[Conversation] = deque()
        self.has: set[str] = set()
        self.held = 0
        self._tls = tls
        self._connections: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def listen(self, port: int) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in self._connections:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            spoilt = self.drawn.popleft().spoilt if self.drawn else ()
            self.held += 1
            with contextlib.suppress(OSError, ssl.SSLError, asyncio.IncompleteReadError, _Over):
                await _Conversation(self, reader, writer, spoilt).hold()
        finally:
            self._connections.discard(writer)
            writer.transport.abort()

    @property
    def tls(self) -> ssl.SSLContext | None:
        return self._tls


class _Over(Exception):
    """The server says no more."""


class _Conversation:
    def __init__(
        self,
        peer: Peer,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        spoilt: tuple[Spoilt, ...],
    ) -> None:
        self._peer, self._reader, self._writer = peer, reader, writer
        self._spoilt = {each.at: each for each in spoilt}
        self._replies = 0
        self._is_encrypted = False

    async def hold(self) -> None:
        await self._say(BANNER)
        while line := await self._reader.readline():
            verb = line.split(None, 1)[0].upper() if line.strip() else b""
            if verb == b"EHLO":
                await self._say(self._keywords())
            elif verb == b"STARTTLS" and self._peer.tls is not None:
                await self._say(b"220 2.0.0 SMTP server ready\r\n")
                await self._writer.start_tls(self._peer.tls, ssl_handshake_timeout=5)
                self._is_encrypted = True
            elif verb == b"DATA":
                if (await self._say(ANSWERS[verb])).startswith(b"354"):
                    await self._take()
            else:
                await self._say(ANSWERS.get(verb, b"500 5.3.3 Unrecognized command\r\n"))
            if verb == b"QUIT":
                return

    def _keywords(self) -> bytes:
        if self._peer.tls is None:
            return b"250-peer Hello\r\n250 8BITMIME\r\n"
        offered = b"XSHADOWREQUEST db" if self._is_encrypted else b"STARTTLS"
        return b"250-peer Hello\r\n250-8BITMIME\r\n250 " + offered + b"\r\n"

    async def _take(self) -> None:
        content = await self._reader.readuntil(b"\r\n.\r\n")
        self._peer.has |= {found.decode() for found in MESSAGE_ID.findall(content)}
        await self._say(b"250 2.6.0 taken\r\n")

    async def _say(self, good: bytes) -> bytes:
        """As it should be, or spoilt; what was said."""
        spoilt = self._spoilt.get(self._replies)
        self._replies += 1
        said = good if spoilt is None else spoilt.said(good)
        await self._write(said, len(said) if spoilt is None else spoilt.piece)
        if spoilt is not None:
            await self._end(spoilt.then)
        return said

    async def _write(self, said: bytes, piece: int) -> None:
        """In so many bytes a packet; the rest at once where that would be a great many."""
        size = max(piece, 1)
        for at in range(0, min(len(said), size * PIECES_MAX), size):
            self._writer.write(said[at : at + size])
            await asyncio.sleep(0)
        self._writer.write(said[size * PIECES_MAX :])
        await self._writer.drain()

    async def _end(self, then: str) -> None:
        if then == FALLS_SILENT:
            while await self._reader.read(65_536):
                pass
        if then == RESETS:
            raw = self._writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if then in (CLOSES, RESETS, FALLS_SILENT):
            raise _Over
