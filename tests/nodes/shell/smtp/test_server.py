"""Inbound sessions: every decision is the core's, and a client that goes away aborts nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from nodes.core.interface.inputs import (
    ConnectionLost,
    MessageOffered,
    RecipientOffered,
    SessionAccepted,
    SessionActive,
)
from nodes.core.interface.replies import R250_RECIPIENT_OK, R421_STOPPING, Reply
from nodes.shell.config_file import read_node_file
from nodes.shell.smtp import connection as smtp_connection
from nodes.shell.smtp.server import InboundConnections
from nodes.shell.smtp.syntax import on_the_wire
from nodes.shell.storage.bodies import Bodies
from tests.nodes.shell.organisation import Organisation
from tests.nodes.shell.scripted import Door
from tests.nodes.shell.waiting import until_async

BEGIN = b"EHLO c\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n"
BODY = b"Message-ID: <m@b>\r\n\r\nbody\r\n.\r\n"


@dataclass
class Node:
    """The inbound side of a node whose core is the test itself."""

    door: Door
    sessions: InboundConnections
    bodies: Bodies
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def says(self, code: str) -> str:
        """The next reply of that code, passing over those before it."""
        while True:
            line = (await asyncio.wait_for(self.reader.readline(), 10)).decode()
            assert line, f"closed before {code}"
            if line.startswith(code):
                return line.rstrip()


@asynccontextmanager
async def connected(folder: Path) -> AsyncIterator[Node]:
    node = read_node_file(Organisation(folder).document("par-mbx1")).node
    door, bodies = Door(), Bodies(lambda internal_id: None)
    sessions = InboundConnections(door, node, bodies, None)

    def accept_recipients(happened: object) -> None:
        if isinstance(happened, RecipientOffered):
            sessions.reply(happened.session, R250_RECIPIENT_OK)

    door.on_input = accept_recipients
    server = await asyncio.get_running_loop().create_server(sessions.connected, "127.0.0.1", 0)
    streams = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        yield Node(door, sessions, bodies, *streams)
    finally:
        streams[1].transport.abort()
        await door.hears(ConnectionLost)
        server.close()


def test_a_message_is_offered_with_its_envelope_and_header(tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected(tmp_path) as node:
            node.writer.write(BEGIN + BODY)
            offered = await node.door.hears(MessageOffered)
            assert (offered.envelope.sender, offered.envelope.recipients) == ("a@b", ("c@d",))
            assert offered.header.message_id == "<m@b>"
            assert offered.size_bytes == len(BODY) - len(b".\r\n")
            assert node.bodies.fetch(offered.body) == BODY.removesuffix(b".\r\n")
            node.sessions.reply(offered.session, Reply(250, ("taken",)))
            assert await node.says("250 taken") == "250 taken"

    asyncio.run(talk())


def test_an_answer_is_waited_for_until_it_is_said(tmp_path: Path) -> None:
    """A node that stops closes its sessions then: what it has answered is not to be cut off."""

    async def talk() -> None:
        async with connected(tmp_path) as node:
            node.writer.write(BEGIN + BODY)
            offered = await node.door.hears(MessageOffered)
            node.sessions.reply(offered.session, Reply(250, ("taken",)))
            assert node.sessions.await_answers
            await until_async(lambda: None if node.sessions.await_answers else True, "it is said")
            node.sessions.close_all(R421_STOPPING)
            assert await node.says("250 taken") == "250 taken"
            assert await node.says("421") == "421 4.3.2 Service not active"

    asyncio.run(talk())


def test_a_client_that_leaves_while_it_waits_is_a_lost_connection_and_no_more(
    tmp_path: Path,
) -> None:
    async def talk() -> None:
        async with connected(tmp_path) as node:
            node.writer.write(BEGIN + BODY)
            offered = await node.door.hears(MessageOffered)
            node.writer.transport.abort()
            await node.door.hears(ConnectionLost)
            assert node.bodies.at_hand(offered.body) is not None
            node.sessions.reply(offered.session, Reply(250, ("nobody hears it",)))
            lost = [h for h in node.door.heard if isinstance(h, ConnectionLost)]
            assert lost == [ConnectionLost(offered.session)]

    asyncio.run(talk())


def test_a_client_that_half_closes_is_gone(tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected(tmp_path) as node:
            node.writer.write(BEGIN + BODY)
            await node.door.hears(MessageOffered)
            node.writer.write_eof()
            await node.door.hears(ConnectionLost)

    asyncio.run(talk())


@pytest.mark.parametrize("said", [b"", b"EHLO c\r\nMAI", BEGIN + b"half a bo", BEGIN + BODY])
def test_the_core_can_close_a_session_whatever_it_is_doing(said: bytes, tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected(tmp_path) as node:
            node.writer.write(said)
            await node.says("354" if BEGIN in said else "220")
            node.sessions.close("in-1", R421_STOPPING)
            assert await node.says("421") == "421 4.3.2 Service not active"
            assert await node.reader.read() == b""
            lost = [h for h in node.door.heard if isinstance(h, ConnectionLost)]
            assert lost == [ConnectionLost("in-1")]

    asyncio.run(talk())


def test_a_session_refused_when_it_is_accepted_hears_nothing_but_the_refusal(
    tmp_path: Path,
) -> None:
    async def talk() -> None:
        async with connected(tmp_path) as node:
            host, port = node.writer.get_extra_info("peername")

            def refuse(happened: object) -> None:
                if isinstance(happened, SessionAccepted):
                    node.sessions.close(happened.session, R421_STOPPING)

            node.door.on_input = refuse
            reader, writer = await asyncio.open_connection(host, port)
            assert await reader.read() == b"421 4.3.2 Service not active\r\n"
            writer.close()

    asyncio.run(talk())


def test_activity_is_told_in_lab_time_and_not_too_often(tmp_path: Path) -> None:
    """A twentieth of ConnectionInactivityTimeout is 15 s of lab time."""

    async def talk() -> None:
        async with connected(tmp_path) as node:
            told = []
            for step_ms in (0, 14_999, 1, 1, 15_000):
                node.door.lab_ms += step_ms
                node.writer.write(b"NOOP\r\n")
                await node.says("250")
                told.append(sum(isinstance(h, SessionActive) for h in node.door.heard))
            assert told == [0, 0, 1, 1, 2]

    asyncio.run(talk())


def test_a_recipient_is_offered_with_how_many_its_message_has_already(tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected(tmp_path) as node:
            recipients = b"RCPT TO:<c@d>\r\n" * 3
            node.writer.write(b"EHLO c\r\nMAIL FROM:<a@b>\r\n" + recipients)
            node.writer.write(b"RSET\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nQUIT\r\n")
            await node.says("221")
            offered = [h.taken for h in node.door.heard if isinstance(h, RecipientOffered)]
            assert offered == [0, 1, 2, 0]

    asyncio.run(talk())


def test_a_client_that_reads_nothing_cannot_keep_a_session_that_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smtp_connection, "CLOSE_GRACE_S", 0.05)

    async def talk() -> None:
        async with connected(tmp_path) as node:
            (session,) = node.sessions._open.values()
            session._writer.transport.write(b"x" * 8_000_000)
            node.sessions.close("in-1", R421_STOPPING)
            await until_async(lambda: session.transport is None or None, "the connection is gone")

    asyncio.run(talk())


def test_what_comes_after_quit_is_not_carried_out(tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected(tmp_path) as node:
            node.writer.write(b"EHLO c\r\nQUIT\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\n")
            await node.says("221")
            assert await node.reader.read() == b""
            assert not [h for h in node.door.heard if isinstance(h, RecipientOffered)]

    asyncio.run(talk())


def test_one_session_does_not_change_the_limits_of_another(tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected(tmp_path) as node:
            await node.says("220")
            (session,) = node.sessions._open.values()
            session.command_size_limits["MAIL"] = 7
            assert InboundConnections.connected(node.sessions).command_size_limits["MAIL"] == 555

    asyncio.run(talk())


def test_a_sentence_is_bounded_and_keeps_what_it_says_first_and_last() -> None:
    wire = on_the_wire(Reply(250, ("2.6.0 " + "x" * 5000 + " Queued mail for delivery",)))
    assert len(wire) <= 510
    assert wire.startswith(b"250 2.6.0 xxx")
    assert wire.endswith(b"xxx Queued mail for delivery")


def test_a_list_is_not_cut_since_it_is_read_again() -> None:
    assert (
        on_the_wire(Reply(250, ("x" * 1000, "Done 1"))) == b"250-" + b"x" * 1000 + b"\r\n250 Done 1"
    )


def test_a_reply_is_ascii_and_one_line_a_line() -> None:
    assert on_the_wire(Reply(250, ("a", "b\r\nc é"))) == b"250-a\r\n250 b c ?"
