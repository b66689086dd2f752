import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lab.hosts.containers.ground.verify_inside import complaints, unconfined


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


CONFINED = {"Uid": "1 1 1 1", "CapPrm": "0", "CapEff": "0", "NoNewPrivs": "1"}


def status(folder: Path, **changes: str) -> Path:
    """What the kernel says of a process."""
    path = folder / "status"
    path.write_text("".join(f"{name}:\t{value}\n" for name, value in (CONFINED | changes).items()))
    return path


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("Uid", "0\t0\t0\t0", "it runs as root"),
        ("CapEff", "0000000000000400", "it has capabilities: 0000000000000400"),
        ("NoNewPrivs", "0", "it may gain rights"),
    ],
)
def test_what_a_program_may_do_and_should_not_is_named(
    name: str, value: str, said: str, tmp_path: Path
) -> None:
    assert said in list(unconfined(status(tmp_path, **{name: value}), tmp_path))


def test_a_root_file_system_that_can_be_written_to_is_named(tmp_path: Path) -> None:
    assert list(unconfined(status(tmp_path), tmp_path)) == [
        "its root file system can be written to"
    ]
