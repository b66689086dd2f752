"""An SMTP server on loopback that follows a script: what it answers, and when it goes away."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

SILENT, LOST = "silent", "lost"
"""Instead of a reply: say nothing and keep the connection; close it."""


@dataclass
class Script:
    """The reply to each stage; `mail` grows with each MAIL, `received` with each message that came
    whole.
    """

    banner: str = "220 scripted.example ESMTP"
    ehlo: str = "250-scripted.example\r\n250-8BITMIME\r\n250 SIZE 10000000"
    rcpt: str = "250 2.1.5 ok"
    data: str = "354 go on"
    final: list[str] = field(default_factory=lambda: ["250 2.6.0 queued"])
    tls: ssl.SSLContext | None = None
    mail: list[str] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)
    connections: int = 0
    was_encrypted: bool = False

    def next_final(self) -> str:
        """The last one is for ever."""
        return self.final.pop(0) if len(self.final) > 1 else self.final[0]


class _Gone(Exception):
    """The script says that the connection ends here."""


@asynccontextmanager
async def serving(script: Script) -> AsyncIterator[int]:
    """Serve the script; gives the port. Open connections are dropped at the end."""
    conversations: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        conversations.add(task)
        script.connections += 1
        try:
            await _converse(script, reader, writer)
        except (_Gone, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            conversations.discard(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(conversations):
            task.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)


async def _converse(
    script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    await _reply(script.banner, writer)
    while line := (await reader.readline()).decode().strip():
        verb = line.split()[0].upper()
        if verb == "EHLO":
            offered = script.tls is not None and not script.was_encrypted
            keyword = "\r\n250-STARTTLS\r\n" if offered else "\r\n"
            await _reply(script.ehlo.replace("\r\n", keyword, 1), writer)
        elif verb == "STARTTLS":
            await _reply("220 ready", writer)
            assert script.tls is not None
            await writer.start_tls(script.tls)
            script.was_encrypted = True
        elif verb == "RCPT":
            await _reply(script.rcpt, writer)
        elif verb == "DATA":
            await _reply(script.data, writer)
            if script.data.startswith("354"):
                script.received.append(await reader.readuntil(b"\r\n.\r\n"))
                await _reply(script.next_final(), writer)
        elif verb == "QUIT":
            await _reply("221 bye", writer)
            return
        else:
            if verb == "MAIL":
                script.mail.append(line)
            await _reply("250 ok", writer)


async def _reply(text: str, writer: asyncio.StreamWriter) -> None:
    if text == SILENT:
        await asyncio.Event().wait()
    if text == LOST:
        raise _Gone
    writer.write(text.encode() + b"\r\n")
    await writer.drain()


def unused_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
