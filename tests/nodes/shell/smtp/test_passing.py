"""A transmission over real sockets: bytes that the peer takes keep it up, and nothing else does."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from nodes.core.interface.effects import OpenSession, Transmit
from nodes.core.interface.inputs import SessionOpened, TransmissionActive, TransmissionAnswered
from nodes.core.model.message import Envelope
from nodes.shell.config_file import read_node_file
from nodes.shell.smtp.address import Address
from nodes.shell.smtp.client import OutboundSessions, Route
from nodes.shell.smtp.passing import unsent_bytes
from nodes.shell.tls import towards_the_outside
from tests.certificates import Authority
from tests.nodes.shell.organisation import Organisation
from tests.nodes.shell.scripted import Door
from tests.nodes.shell.waiting import until_async

LARGE = "Subject: large\r\n\r\n" + ("x" * 70 + "\r\n") * 120_000
STEP_MS = 30_000  # of lab time: a twentieth of ten minutes


@dataclass
class SlowServer:
    """Takes as much of a message as it is let, and acknowledges it at its final dot."""

    may_read: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    taken_bytes: int = 0
    has_begun: bool = False
    talks: int = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.talks += 1
        with suppress(ConnectionError):
            await self._take_a_message(reader, writer)
        writer.transport.abort()
        self.talks -= 1

    async def _take_a_message(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"220 mx.partner.example\r\n")
        while (line := await reader.readline()) and not line.startswith(b"DATA"):
            writer.write(b"250 ok\r\n")
        writer.write(b"354 go on\r\n")
        self.has_begun = True
        said = b""
        while not said.endswith(b"\r\n.\r\n"):
            await self.may_read.acquire()
            if not (part := await reader.read(256 * 1024)):
                return
            said = said[-8:] + part
            self.taken_bytes += len(part)
        writer.write(b"250 2.0.0 taken\r\n")
        await reader.read()

    def take(self, times: int) -> None:
        for _ in range(times):
            self.may_read.release()


@asynccontextmanager
async def sending(
    folder: Path, content: str, sessions_count: int = 1
) -> AsyncIterator[tuple[Door, SlowServer]]:
    """Sessions of which the first has begun to transmit it; the others are to as well."""
    node = read_node_file(Organisation(folder).document("par-mbx1")).node
    server, door = SlowServer(), Door()
    listening = await asyncio.start_server(server.talk, "127.0.0.1", 0, limit=64 * 1024)
    port = listening.sockets[0].getsockname()[1]
    tls = towards_the_outside()
    route = Route({"ext1": Address("127.0.0.1", port)}, tls, tls)
    sessions = OutboundSessions(door, node, route)
    for number in range(1, sessions_count + 1):
        name = f"out-{number}"
        sessions.open(OpenSession(name, "ext1", "delivery"))
        await until_async(partial(opened, door, name), "opened")
        sessions.transmit(Transmit(name, None, Envelope("a@x", ("b@partner.example",)), content))
        await until_async(lambda: server.has_begun or None, "DATA")
    try:
        yield door, server
    finally:
        sessions.close_all()
        server.take(1000)
        listening.close()
        await until_async(lambda: server.talks == 0 or None, "the server's end")
        await asyncio.sleep(0)


def opened(door: Door, name: str) -> bool | None:
    stand = {each.session for each in door.heard if isinstance(each, SessionOpened)}
    return name in stand or None


def active(door: Door) -> int:
    return sum(isinstance(happened, TransmissionActive) for happened in door.heard)


def reaches(door: Door, count: int) -> bool | None:
    return active(door) >= count or None


def stands_still(looks: list[int]) -> bool:
    return len(looks) > 10 and len(set(looks[-10:])) == 1


def test_a_slow_peer_that_takes_a_large_message_keeps_the_transmission_up(tmp_path: Path) -> None:
    """At most once in a twentieth of the time-out, whatever it takes meanwhile."""

    async def talk() -> None:
        async with sending(tmp_path, LARGE) as (door, server):
            for count in range(1, 5):
                door.lab_ms += STEP_MS
                server.take(4)
                await until_async(partial(reaches, door, count), f"active {count}")
                server.take(2)
                assert active(door) == count
            server.take(100)
            answer = await door.hears(TransmissionAnswered)
            assert (answer.code, server.taken_bytes) == (250, len(LARGE) + 3)

    asyncio.run(talk())


def test_a_peer_that_takes_nothing_any_more_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits on this side stays as much as it is."""
    looks: list[int] = []

    def noted(*transports: asyncio.BaseTransport | None) -> int:
        looks.append(unsent_bytes(*transports))
        return looks[-1]

    monkeypatch.setattr("nodes.shell.smtp.outbound_connection.unsent_bytes", noted)

    async def talk() -> None:
        async with sending(tmp_path, LARGE) as (door, _):
            await until_async(lambda: stands_still(looks) or None, "nothing moves")
            assert looks[-1] > 0
            door.lab_ms += 20 * STEP_MS
            seen = len(looks)
            await until_async(lambda: len(looks) > seen + 5 or None, "looked again")
            assert active(door) == 0

    asyncio.run(talk())


def test_who_waits_for_room_waits_as_long_as_what_is_before_it_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second message is not read from disk before the first is sent."""
    monkeypatch.setattr("nodes.shell.smtp.mail_going_out.ENOUGH_BYTES", 1)

    async def talk() -> None:
        async with sending(tmp_path, "db:" + LARGE, 2) as (door, server):
            both = {TransmissionActive("out-1"), TransmissionActive("out-2")}

            def are_active() -> bool | None:
                door.lab_ms += STEP_MS
                server.take(1)
                return both <= {*door.heard} or None

            await until_async(are_active, "both are active")
            assert not any(isinstance(each, TransmissionAnswered) for each in door.heard)
            server.take(100)
            await door.hears(TransmissionAnswered)

    asyncio.run(talk())


def test_under_tls_what_waits_is_seen_as_well(tmp_path: Path) -> None:
    """In the buffers of TLS, of the transport below and of the system; each counts once."""
    certificate, key = (authority := Authority(tmp_path)).issue("mx.partner.example")
    of_server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    of_server.load_cert_chain(certificate, key)
    size_bytes, may_read = 4 * 1024 * 1024, asyncio.Event()

    async def read_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await may_read.wait()
        await reader.readexactly(size_bytes)
        writer.transport.abort()

    async def talk() -> None:
        listening = await asyncio.start_server(read_all, "127.0.0.1", 0, ssl=of_server)
        loop, port = asyncio.get_running_loop(), listening.sockets[0].getsockname()[1]
        below, protocol = await loop.create_connection(asyncio.Protocol, "127.0.0.1", port)
        context = authority.client_context(None)
        over = await loop.start_tls(below, protocol, context, server_hostname="mx.partner.example")
        assert over is not None
        over.write(b"x" * size_bytes)
        assert size_bytes // 2 < unsent_bytes(over, below) < size_bytes * 11 // 10
        may_read.set()
        await until_async(lambda: unsent_bytes(over, below) == 0 or None, "all of it sent")
        over.close()
        listening.close()
        await until_async(lambda: below.is_closing() or None, "closed")

    asyncio.run(talk())
