"""A client can lose its own connection, and nothing else of the node."""

from __future__ import annotations

import asyncio
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from nodes.core.interface.inputs import SessionAccepted
from nodes.shell import process as program
from nodes.shell.runner import Runner
from nodes.shell.smtp.server import InboundConnections
from nodes.shell.storage.disk import Disk
from tests.nodes.shell.organisation import Organisation, fqdn
from tests.nodes.shell.running import process, running
from tests.nodes.shell.sending import send
from tests.nodes.shell.smtp.strangers import with_tls
from tests.nodes.shell.waiting import records, until, until_async

SERVER = "par-mbx1"
UNKNOWN = b"".join(b"X%d\r\n" % number for number in range(6))


@pytest.fixture
def organisation(tmp_path: Path) -> Organisation:
    return Organisation(tmp_path)


def lifecycle(organisation: Organisation, server: str = SERVER) -> list[dict[str, Any]]:
    return records(organisation.logs(server) / "lifecycle.jsonl")


def inputs(organisation: Organisation, name: str, server: str = SERVER) -> list[dict[str, Any]]:
    heard = records(organisation.logs(server) / "inputs.jsonl")
    return [line for line in heard if line["input"] == name]


def lost(organisation: Organisation, count: int, server: str = SERVER) -> None:
    """Wait until the core has heard of that many connections lost."""
    until(
        lambda: len(inputs(organisation, "ConnectionLost", server)) >= count or None,
        f"{count} connections are lost",
        organisation.logs(server),
    )


@pytest.mark.parametrize(("server", "module"), [(SERVER, "runner"), ("am1", "active_manager")])
def test_unknown_commands_inside_tls_and_then_silence_end_no_node(
    server: str, module: str, organisation: Organisation
) -> None:
    """The sixth is behind the goodbye that the fifth got, and the deadline behind both."""
    organisation.speed, organisation.managers = 600.0, ("am1",)
    organisation.services = ("smtp",)
    with process(organisation, server, module) as node:
        plain = socket.create_connection(("127.0.0.1", node.port()), timeout=20)
        plain.recv(512)
        plain.sendall(b"EHLO c\r\nSTARTTLS\r\n")
        while not plain.recv(512).endswith(b"Ready to start TLS\r\n"):
            pass
        context = organisation.authority.client_context(None)
        with context.wrap_socket(plain, server_hostname=fqdn(server)) as client:
            client.sendall(UNKNOWN)
            heard = b""
            while b"oodbye" not in heard and b"421" not in heard:
                heard += client.recv(512)
            organisation.start_lab_time(time.monotonic_ns() - 3_600 * 10**9)
            lost(organisation, 1, server)
            with socket.create_connection(("127.0.0.1", node.port()), timeout=20) as other:
                assert other.recv(512).startswith(b"220")
        assert node.stop() == 0
    assert [line["event"] for line in lifecycle(organisation, server)][-1] == "stopped"


def test_a_client_that_makes_too_many_mistakes_is_shown_the_door(
    organisation: Organisation,
) -> None:
    with process(organisation, SERVER) as node:
        with with_tls(organisation, node.port()) as client:
            client.sendall(UNKNOWN)
            heard = b"".join(iter(lambda: client.recv(512), b""))
        assert heard.count(b"500 5.3.3") == 5
        assert heard.endswith(
            b"421 4.7.0 Too many errors on this connection, closing transmission channel\r\n"
        )
        assert node.stop() == 0


@pytest.mark.parametrize("line", [b"\n", b"\xff\r\n", b"x" * 2000 + b"\r\n"])
def test_lines_that_are_no_commands_are_not_answered_for_ever(
    line: bytes, organisation: Organisation
) -> None:
    with process(organisation, SERVER) as node:
        with socket.create_connection(("127.0.0.1", node.port()), timeout=20) as client:
            client.recv(512)
            client.sendall(line * 8)
            heard = b"".join(iter(lambda: client.recv(512), b""))
        assert heard.count(b"500 ") == 5
        assert heard.rpartition(b"\r\n421 ")[2].startswith(b"4.7.0 Too many errors")
        assert node.stop() == 0


@pytest.mark.parametrize("said", [b"", b"no handshake\r\n", b"\x16\x03\x01\x02\x00\x01"])
def test_a_handshake_that_comes_to_nothing_is_a_lost_connection(
    said: bytes, organisation: Organisation
) -> None:
    with process(organisation, SERVER) as node:
        with socket.create_connection(("127.0.0.1", node.port()), timeout=20) as client:
            client.sendall(b"STARTTLS\r\n")
            while not client.recv(512).endswith(b"Ready to start TLS\r\n"):
                pass
            client.sendall(said)
        lost(organisation, 1)
        assert node.stop() == 0


def test_a_mistake_in_one_session_is_noted_and_costs_the_node_nothing_else(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = asyncio.StreamReader.feed_data

    def stumble(reader: asyncio.StreamReader, data: bytes) -> None:
        if b"stumble" in data:
            raise AttributeError("over a stone")
        feed(reader, data)

    monkeypatch.setattr(asyncio.StreamReader, "feed_data", stumble)

    async def talk() -> None:
        async with running(organisation, SERVER) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"stumble\r\n")
            await reader.read()
            writer.close()
            assert (await asyncio.to_thread(send, port, 1)).reply is not None

    asyncio.run(talk())
    noted = [line for line in lifecycle(organisation) if line["event"] == "session-failed"]
    assert [line["session"] for line in noted] == ["in-1"]
    assert "AttributeError: over a stone" in noted[0]["reason"]
    assert "AttributeError" in capsys.readouterr().err
    assert len(inputs(organisation, "ConnectionLost")) == 2


def port_of(organisation: Organisation) -> int | None:
    return next((line["port"] for line in lifecycle(organisation) if "port" in line), None)


def crash(organisation: Organisation) -> int:
    """Let the core stumble over a session, and give the exit code."""
    config = organisation.write_config(SERVER)

    async def live(file: Any) -> int:
        runner = Runner(file)
        runner._core_loop._core = _Stumbling()
        life = asyncio.create_task(runner.run())
        port = await until_async(lambda: port_of(organisation), "the node started")
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        code = await life
        writer.close()
        return code

    return program.serve(config, "mailbox", live)


class _Stumbling:
    def handle(self, happened: object, now_ms: int) -> tuple[()]:
        if isinstance(happened, SessionAccepted):
            raise AssertionError("a mistake of ours")
        return ()

    def next_deadline_ms(self) -> None:
        return None


@pytest.mark.parametrize("part", ["nothing", "sessions", "disk"])
def test_a_mistake_of_ours_ends_the_node_with_70_and_says_so_whatever_else_goes_wrong(
    part: str,
    organisation: Organisation,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise AttributeError("another one")

    if part == "sessions":
        monkeypatch.setattr(InboundConnections, "close_all", fail)
    elif part == "disk":
        monkeypatch.setattr(Disk, "close", fail)
    assert crash(organisation) == 70
    last = lifecycle(organisation)[-1]
    assert last["event"] == "crashed"
    assert "AssertionError" in capsys.readouterr().err


def test_a_mistake_before_the_node_has_begun_ends_it_with_70_as_well(
    organisation: Organisation, capsys: pytest.CaptureFixture[str]
) -> None:
    organisation.logs(SERVER).mkdir(parents=True)

    async def live(file: Any) -> int:
        raise ZeroDivisionError("early")

    assert program.serve(organisation.write_config(SERVER), "mailbox", live) == 70
    assert [line["event"] for line in lifecycle(organisation)] == ["crashed"]
    assert "ZeroDivisionError: early" in capsys.readouterr().err
