"""A node that drawn sessions are held with: it must live, answer, and keep what it acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from itertools import count
from pathlib import Path

from nodes.core.interface.replies import as_shown
from nodes.store.dump import mailbox_files, mailbox_rows, queue_rows
from tests.nodes.shell.fuzz.fuzzed_sessions import NUMBER, PEER, TLS, USER, FuzzedSession
from tests.nodes.shell.organisation import ORIGIN_MS, Organisation, fqdn
from tests.nodes.shell.running import NodeProcess
from tests.nodes.shell.waiting import DEADLINE_S, records

ACKNOWLEDGED = re.compile(rb"^250 (?:2\.6\.0|2\.0\.0) (<[!-~]+>) ", re.MULTILINE)
QUIET_S = 0.02
PATIENCE_S = 0.2  # a node may wait for the rest of a handshake; what is not heard is not claimed
SILENT = 20


class FuzzedNode:
    """A process, and the client that talks to it. `numbers` make every message one of its own."""

    def __init__(self, organisation: Organisation, server: str, module: str) -> None:
        self._organisation, self._server = organisation, server
        self._node = NodeProcess(organisation, server, module)
        self._port = self._node.port()
        self._numbers = count(1)
        self._user = b"bob@partner.example" if module == "external" else USER
        authority = organisation.authority
        self._contexts = {PEER: authority.client_context(fqdn(PEER))}
        self._stranger = authority.client_context(None)
        self._silent: list[asyncio.StreamWriter] = []
        self._seen_bytes = 0
        self.acknowledged: set[str] = set()

    async def hold(self, sessions: list[FuzzedSession]) -> None:
        """All at once."""
        await asyncio.gather(*map(self._hold, sessions))

    async def _hold(self, session: FuzzedSession) -> None:
        async with asyncio.timeout(DEADLINE_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            client = _Client(reader, writer, self._contexts.get(session.client, self._stranger))
            with contextlib.suppress(OSError, ssl.SSLError):
                for packet in session.packets:
                    await client.say(self._numbered(packet), self)
                if session.ending == "quit":
                    await client.quit()
                elif session.ending == "half-close" and writer.can_write_eof():
                    writer.write_eof()
        self._leave(client, silently=session.ending == "silence")
        self.acknowledged |= client.acknowledged()

    def _leave(self, client: _Client, *, silently: bool) -> None:
        """Some stay connected and say nothing, not even that they have heard the goodbye."""
        if not silently:
            client.writer.transport.abort()
            return
        client.listens_no_more()
        self._silent.append(client.writer)
        if len(self._silent) > SILENT:
            self._silent.pop(0).transport.abort()

    def _numbered(self, packet: bytes) -> bytes:
        """Each message with a number of its own, to somebody whom the node knows."""
        first, *others = packet.replace(USER, self._user).split(NUMBER)
        return first + b"".join(b"%d" % next(self._numbers) + other for other in others)

    def server_name(self) -> str:
        return fqdn(self._server)

    async def is_well(self) -> None:
        """It lives, greets, and has said of no session that it failed."""
        assert self._node.process.poll() is None, "the node has ended"
        log = self._node.logs / "lifecycle.jsonl"
        if log.stat().st_size != self._seen_bytes:
            self._seen_bytes = log.stat().st_size
            failed = [r for r in records(log) if r["event"] in ("crashed", "session-failed")]
            assert not failed, failed[0].get("reason")
        async with asyncio.timeout(DEADLINE_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            assert (await reader.readline()).startswith(b"220 ")
            writer.write(b"NOOP\r\n")
            assert (await reader.readline()).startswith(b"250 ")
            writer.transport.abort()

    def stop(self) -> None:
        """In order, and with nothing on stderr. Afterwards its databases can be looked at."""
        assert self._node.stop() == 0

    def kill(self) -> None:
        for writer in self._silent:
            writer.transport.abort()
        if self._node.process.poll() is None:
            self._node.kill()

    def lost(self) -> set[str]:
        """Message-Ids, as replies show them, that were acknowledged and are held nowhere."""
        return self.acknowledged - set(map(as_shown, self._held()))

    def _held(self) -> set[str]:
        """Message-Ids in any queue, Safety Net, mailbox or list of what was received."""
        data = self._organisation.data(self._server)
        found = {str(r["message_id"]) for r in records(data / "received.jsonl")}
        if (data / "queue.db").exists():
            found |= {str(row["message_id"]) for row in queue_rows(data / "queue.db", ORIGIN_MS)}
            found |= _delivered(data)
        return found


def _delivered(data: Path) -> set[str]:
    files = mailbox_files(data).values()
    return {str(row["message_id"]) for path in files for row in mailbox_rows(path, ORIGIN_MS)}


class _Client:
    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, context: ssl.SSLContext
    ) -> None:
        self._reader, self.writer, self._context = reader, writer, context
        self._below = writer.transport
        self._heard = bytearray()

    def listens_no_more(self) -> None:
        """Not to TLS either, which would answer by itself."""
        if isinstance(self._below, asyncio.ReadTransport) and not self._below.is_closing():
            self._below.pause_reading()

    async def say(self, packet: bytes, node: FuzzedNode) -> None:
        if packet == TLS:
            await self._start_tls(node.server_name())
            return
        self.writer.write(packet)
        await self._listen()

    async def _start_tls(self, name: str) -> None:
        await self._listen()
        before = len(self._heard)
        self.writer.write(b"STARTTLS\r\n")
        while b"\r\n" not in self._heard[before:] and await self._hear(PATIENCE_S):
            pass
        if self._heard[before:].startswith(b"220 "):
            await self.writer.start_tls(
                self._context, server_hostname=name, ssl_handshake_timeout=DEADLINE_S
            )

    async def quit(self) -> None:
        """Out of whatever state it is in, and every answer heard."""
        self.writer.write(b"\r\n.\r\nRSET\r\nQUIT\r\n")
        while await self._hear(PATIENCE_S):
            pass

    async def _listen(self) -> None:
        """What the node says now; it may have nothing to say."""
        await self._hear(QUIET_S)

    async def _hear(self, within_s: float) -> bool:
        try:
            chunk = await asyncio.wait_for(self._reader.read(65_536), within_s)
        except TimeoutError:
            return False
        self._heard += chunk
        return bool(chunk)

    def acknowledged(self) -> set[str]:
        return {found.decode() for found in ACKNOWLEDGED.findall(bytes(self._heard))}
