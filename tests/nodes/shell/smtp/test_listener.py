"""A node that is short of descriptors, or whose clients say nothing, is there for the next one."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.nodes.shell.organisation import Organisation, fqdn
from tests.nodes.shell.running import NodeProcess, process
from tests.nodes.shell.sending import send
from tests.nodes.shell.smtp.strangers import with_tls
from tests.nodes.shell.waiting import records, until

pytestmark = pytest.mark.slow

SERVER = "par-mbx1"
LIMIT = 80


@pytest.fixture
def organisation(tmp_path: Path) -> Organisation:
    return Organisation(tmp_path)


def limit(node: NodeProcess, descriptors: int) -> None:
    _, hard = resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE, (descriptors, hard))


@contextmanager
def clients(port: int, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            for _ in range(count)
        ]


def cpu_s(node: NodeProcess) -> float:
    fields = Path(f"/proc/{node.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def greeted(port: int) -> socket.socket | None:
    """A client that was let in."""
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    if client.recv(512).startswith(b"220"):
        return client
    client.close()
    return None


@pytest.mark.parametrize(("server", "module"), [(SERVER, "runner"), ("ext1", "external")])
def test_clients_have_half_of_the_descriptors_and_the_silent_give_way(
    server: str, module: str, organisation: Organisation
) -> None:
    user = "db1-user01" if server == SERVER else "bob@partner.example"
    with process(organisation, server, module) as node:
        port = node.port()
        limit(node, LIMIT)
        with clients(port, LIMIT // 2) as held:
            assert all(client.recv(512).startswith(b"220") for client in held)
            held[0].sendall(b"NOOP\r\n")
            assert held[0].recv(512).startswith(b"250")
            with clients(port, 5) as others:
                assert all(client.recv(512).startswith(b"220") for client in others)
                for client in held[1:6]:
                    assert client.recv(512).startswith(b"421 4.3.2 The maximum number")
                    assert client.recv(512) == b""
                assert str(send(port, 1, user).reply).startswith("250")
                for client in (held[0], *held[7:], *others):
                    client.sendall(b"NOOP\r\n")
                    assert client.recv(512).startswith(b"250")
        assert node.stop() == 0


def test_a_server_of_the_organisation_gets_in_and_does_not_give_way(
    organisation: Organisation,
) -> None:
    with process(organisation, SERVER) as node:
        port = node.port()
        limit(node, LIMIT)
        with clients(port, LIMIT), with_tls(organisation, port, fqdn("par-mbx2")) as server:
            server.sendall(b"EHLO par-mbx2\r\n")
            heard = b""
            while b"XSHADOWREQUEST" not in heard:
                heard += server.recv(4096)
            with clients(port, LIMIT):
                server.sendall(b"NOOP\r\n")
                assert server.recv(512).startswith(b"250")
        assert node.stop() == 0


def test_where_nobody_may_give_way_the_one_who_comes_is_let_go(organisation: Organisation) -> None:
    with process(organisation, SERVER) as node:
        port = node.port()
        limit(node, LIMIT)
        with ExitStack() as stack:
            for _ in range(LIMIT // 2):
                stack.enter_context(with_tls(organisation, port, fqdn("par-mbx2")))
            with clients(port, 1) as (client,):
                assert client.recv(512).startswith(b"421 4.3.2 The maximum number")
                assert client.recv(512) == b""
        until(lambda: greeted(port), "a new client is greeted").close()
        assert node.stop() == 0


@pytest.mark.parametrize(("server", "module"), [(SERVER, "runner"), ("ext1", "external")])
def test_a_node_without_a_free_descriptor_waits_and_goes_on_by_itself(
    server: str, module: str, organisation: Organisation
) -> None:
    with process(organisation, server, module) as node:
        port = node.port()
        before, _ = resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE)
        limit(node, 6)  # fewer than are open
        with clients(port, 3) as waiting:
            used_s, began_s = cpu_s(node), time.monotonic()
            until(lambda: time.monotonic() - began_s > 1.5 or None, "it has tried some times")
            assert cpu_s(node) - used_s < 0.5 * (time.monotonic() - began_s)
            limit(node, before)
            assert all(client.recv(512).startswith(b"220") for client in waiting)
        assert node.stop() == 0


def test_a_session_that_is_open_keeps_its_disk_where_descriptors_run_out(
    organisation: Organisation,
) -> None:
    organisation.sections["TransportConfig"] = {"ShadowRedundancyEnabled": False}
    with process(organisation, SERVER) as node:
        port = node.port()
        assert str(send(port, 1).reply).startswith("250")
        with clients(port, 1) as (client,):
            client.recv(512)
            limit(node, 6)
            body = b"Message-ID: <held@outside.example>\r\n\r\n.\r\n"
            client.sendall(
                b"EHLO c\r\nMAIL FROM:<a@b.example>\r\n"
                b"RCPT TO:<db1-user01@shadowlab.example>\r\nDATA\r\n" + body
            )
            heard = b""
            while b"<held@outside.example>" not in heard:
                heard += client.recv(4096)
            assert b"\r\n250 2.6.0 <held@outside.example>" in heard
        assert node.stop() == 0


@pytest.mark.parametrize(("server", "module"), [(SERVER, "runner"), ("ext1", "external")])
def test_a_silent_client_is_cut_though_lab_time_stands(
    server: str, module: str, organisation: Organisation
) -> None:
    organisation.sections["ReceiveConnector"] = {"ConnectionInactivityTimeout": "1s"}
    with process(organisation, server, module) as node:
        with clients(node.port(), 1) as (client,):
            assert client.recv(512).startswith(b"220")
            assert client.recv(512).startswith(b"421 4.4.2")
            assert client.recv(512) == b""
        assert node.stop() == 0


def test_a_client_that_trickles_is_cut_though_lab_time_stands(organisation: Organisation) -> None:
    organisation.sections["ReceiveConnector"] = {
        "ConnectionInactivityTimeout": "1s",
        "ConnectionTimeout": "2s",
    }
    with process(organisation, SERVER) as node:
        with clients(node.port(), 1) as (client,):
            assert client.recv(512).startswith(b"220")
            heard = trickle(client)
            assert heard.startswith((b"421 4.4.1", b"421 4.4.2"))
        assert node.stop() == 0
    lost = [r for r in records(organisation.logs(SERVER) / "inputs.jsonl") if "Lost" in r["input"]]
    assert len(lost) == 1


def trickle(client: socket.socket) -> bytes:
    """A byte again and again until the node has something to say."""
    client.settimeout(0.1)

    def say_a_byte() -> bytes | None:
        try:
            client.sendall(b"x")
            return client.recv(512)
        except TimeoutError:
            return None

    return until(say_a_byte, "the node cuts the client")
