import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from lab.hosts.containers.look_from_inside import complaints


@pytest.fixture
def greeting() -> Iterator[str]:
    """The address of a server that greets."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        threading.Thread(target=greet, args=(listening,), daemon=True).start()
        yield address_of(listening)
        listening.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def closed() -> str:
    """An address where nobody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        return address_of(listening)


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()
    return f"{host}:{port}"


def greet(listening: socket.socket) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            connection.sendall(b"220 here ESMTP\r\n")


def test_nothing_is_wrong_where_links_greet_and_doors_are_shut(greeting: str, closed: str) -> None:
    assert list(complaints({"a": greeting}, {"b": closed}, 5)) == []


def test_a_link_without_a_banner_is_named_with_what_was_seen(closed: str) -> None:
    [complaint] = complaints({"a": closed}, {}, 0.1)
    assert complaint.startswith(f"no banner from a through {closed}: ")
    assert "refused" in complaint


def test_a_door_that_stands_open_is_named(greeting: str) -> None:
    assert list(complaints({}, {"b": greeting}, 0)) == [
        f"b is reached round the proxy, at {greeting}"
    ]
