"""A node has so much mail in memory and no more, whoever sends it and however many they are."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from nodes.shell.smtp.mail_in_memory import MailInMemory
from nodes.shell.smtp.message_data import Refused, read_message
from nodes.shell.storage.bodies import Bodies
from tests.nodes.shell.organisation import DOMAIN, Organisation
from tests.nodes.shell.running import NodeProcess, process
from tests.nodes.shell.sending import send
from tests.nodes.shell.smtp.strangers import in_a_message

LINES = b"x" * 78 + b"\r\n"
END = b".\r\n"
LIMIT = 10 * len(LINES)


class Sender:
    """One that says a message, line by line."""

    def __init__(self, in_memory: MailInMemory) -> None:
        self._reader = asyncio.StreamReader()
        self._reading = asyncio.create_task(read_message(self._reader, 2 * LIMIT, in_memory))

    async def says(self, said: bytes) -> None:
        self._reader.feed_data(said)
        for _ in range(3):
            await asyncio.sleep(0)

    async def ends(self) -> bytes:
        """The message, or the reply to its dot; what comes behind the dot is left."""
        self._reader.feed_data(END + b"NOOP\r\n")
        try:
            answer = await self._reading
        except Refused as refusal:
            answer = refusal.line
        assert await self._reader.readline() == b"NOOP\r\n"
        return answer


def test_the_message_that_was_silent_the_longest_gives_way() -> None:
    async def say() -> None:
        in_memory = MailInMemory(LIMIT)
        silent, slow, busy = (Sender(in_memory) for _ in range(3))
        for sender in (silent, slow):
            await sender.says(LINES * 4)
        await slow.says(LINES)
        await busy.says(LINES * 4)
        assert in_memory.size_bytes < LIMIT
        assert (await silent.ends()).startswith(b"452 4.3.1 ")
        assert await slow.ends() == LINES * 5
        assert await busy.ends() == LINES * 4
        assert in_memory.size_bytes == 0

    asyncio.run(say())


def test_what_is_said_of_a_message_that_gave_way_is_read_over() -> None:
    async def say() -> None:
        in_memory = MailInMemory(LIMIT)
        silent, busy = Sender(in_memory), Sender(in_memory)
        await silent.says(LINES * 4)
        await busy.says(LINES * 8)
        for _ in range(4):
            await silent.says(LINES * 4)
        assert in_memory.size_bytes < LIMIT
        assert (await silent.ends()).startswith(b"452 4.3.1 ")
        assert await busy.ends() == LINES * 8

    asyncio.run(say())


def test_a_message_alone_is_taken_however_large_it_is() -> None:
    async def say() -> None:
        sender = Sender(MailInMemory(len(LINES)))
        await sender.says(LINES * 15)
        assert await sender.ends() == LINES * 15

    asyncio.run(say())


def test_a_message_that_waits_to_be_durable_stays_and_counts() -> None:
    async def say() -> None:
        in_memory, bodies = MailInMemory(LIMIT), Bodies(lambda internal_id: None)
        handle = bodies.hold(LINES * 9, in_memory)
        first = Sender(in_memory)
        await first.says(LINES * 2)
        assert (await first.ends()).startswith(b"452 4.3.1 ")
        assert bodies.at_hand(handle) == LINES * 9
        bodies.drop(handle)
        bodies.drop(handle)
        assert in_memory.size_bytes == 0
        second = Sender(in_memory)
        await second.says(LINES * 2)
        assert await second.ends() == LINES * 2

    asyncio.run(say())


def test_a_client_that_goes_away_leaves_nothing_counted() -> None:
    async def say() -> None:
        in_memory, reader = MailInMemory(LIMIT), asyncio.StreamReader()
        reader.feed_data(LINES)
        reader.feed_eof()
        with pytest.raises(ConnectionResetError):
            await read_message(reader, LIMIT, in_memory)
        assert in_memory.size_bytes == 0

    asyncio.run(say())


MIB = 1_048_576
UNFINISHED = (b"x" * 70 + b"\r\n") * 132_000  # 9 MiB


def resident_mib(node: NodeProcess, name: str = "VmRSS") -> float:
    lines = Path(f"/proc/{node.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


@contextmanager
def unfinished(port: int, to: str, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        clients = [stack.enter_context(in_a_message(port, to)) for _ in range(count)]
        for client in clients:
            client.sendall(UNFINISHED)
        yield clients


@pytest.mark.slow
@pytest.mark.parametrize(("server", "module"), [("par-mbx1", "runner"), ("ext1", "external")])
def test_unfinished_messages_of_many_take_no_more_than_a_node_has(
    server: str, module: str, tmp_path: Path
) -> None:
    """Mail goes on meanwhile and afterwards; who gave way hears so behind its dot."""
    organisation = Organisation(tmp_path)
    organisation.sections["TransportConfig"] = {"ShadowRedundancyEnabled": False}
    user = f"db1-user01@{DOMAIN}" if server == "par-mbx1" else "bob@partner.example"
    with process(organisation, server, module) as node:
        port, before = node.port(), resident_mib(node)
        for number, strangers in enumerate((40, 15)):
            with unfinished(port, user, strangers) as clients:
                assert str(send(port, number, user, size=5 * MIB).reply).startswith("250")
                clients[0].sendall(END)
                assert clients[0].recv(512).startswith(b"452 4.3.1 ")
                clients[0].sendall(b"NOOP\r\n")
                assert clients[0].recv(512).startswith(b"250")
            assert str(send(port, number + 9, user, size=5 * MIB).reply).startswith("250")
        assert resident_mib(node, "VmHWM") - before < 256
        assert node.stop() == 0
