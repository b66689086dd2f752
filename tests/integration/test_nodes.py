"""The hand on the servers, on a real container of the node image."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import pytest
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from lab.hosts.containers.ground.provision import Ground
from lab.hosts.containers.images.ensure import Images
from lab.hosts.containers.nodes import SMTP_PORT, ContainerNodes
from lab.program.errors import GroundError

pytestmark = pytest.mark.engine

SOME_SERVER = ["python3", "-m", "aiosmtpd", "-n", "-l", f"0.0.0.0:{SMTP_PORT}"]
ENDS_BY_ITSELF = [
    "python3",
    "-uc",
    "import signal, sys; signal.signal(15, lambda *_: sys.exit(0)); print('ready'); signal.pause()",
]
DOES_NOT_END = ["python3", "-uc", "import signal; print('ready'); signal.pause()"]  # it is PID 1
DEADLINE_SECONDS = 20.0


@pytest.fixture
def nodes(
    tmp_path: Path, docker_engine: docker.DockerClient, lab_images: Images
) -> Iterator[ContainerNodes]:
    with _one_server(tmp_path, docker_engine, lab_images, SOME_SERVER) as found:
        yield found


@contextmanager
def _one_server(
    folder: Path, engine: docker.DockerClient, images: Images, command: list[str]
) -> Iterator[ContainerNodes]:
    """One server, `a`: some program in the node image."""
    testcontainers_config.ryuk_disabled = True
    with DockerContainer(images.node).with_command(command) as container:
        name = str(container.get_wrapped_container().name)
        (folder / "servers" / "a" / "data").mkdir(parents=True)
        ground = Ground("r", folder, "", "", ("", 0), {"a": name, "gone": "nobody"}, "", "", {})
        yield ContainerNodes(engine, ground)


def test_a_killed_server_has_exit_code_137_and_comes_back(nodes: ContainerNodes) -> None:
    _wait_for_banner(nodes)
    assert nodes.kill("a") == 137
    assert not nodes.is_running("a")
    nodes.start("a")
    _wait_for_banner(nodes)


def test_a_paused_server_takes_connections_and_says_nothing(
    nodes: ContainerNodes, docker_engine: docker.DockerClient
) -> None:
    _wait_for_banner(nodes)
    nodes.pause("a")
    assert nodes.is_paused("a")
    with socket.create_connection((_address(nodes, docker_engine), SMTP_PORT), 5) as connection:
        connection.settimeout(0.5)
        with pytest.raises(TimeoutError):
            connection.recv(512)
        nodes.resume("a")
        connection.settimeout(DEADLINE_SECONDS)
        assert connection.recv(512).startswith(b"220")
    assert not nodes.is_paused("a")


def test_a_paused_server_can_be_removed(
    tmp_path: Path, docker_engine: docker.DockerClient, lab_images: Images
) -> None:
    with _one_server(tmp_path, docker_engine, lab_images, SOME_SERVER) as nodes:
        nodes.pause("a")  # and it is forcibly removed
    assert not nodes.is_running("a")


@pytest.mark.parametrize(("command", "exit_code"), [(ENDS_BY_ITSELF, 0), (DOES_NOT_END, 137)])
def test_a_stopped_server_says_how_it_ended(
    command: list[str], exit_code: int, tmp_path: Path, docker_engine: docker.DockerClient,
    lab_images: Images, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("lab.hosts.containers.nodes.GRACE_SECONDS", 1)
    with _one_server(tmp_path, docker_engine, lab_images, command) as nodes:
        _wait_until(lambda: b"ready" in _said(nodes, docker_engine))
        assert nodes.stop("a") == exit_code
        assert not nodes.is_running("a")


def test_a_restarted_server_is_there_again(nodes: ContainerNodes) -> None:
    _wait_for_banner(nodes)
    nodes.restart("a")
    assert nodes.is_running("a")
    _wait_for_banner(nodes)


def test_killing_a_server_that_is_down_is_a_ground_error(nodes: ContainerNodes) -> None:
    nodes.kill("a")
    with pytest.raises(GroundError, match="cannot kill a"):
        nodes.kill("a")


def test_a_container_that_is_gone_is_a_ground_error(nodes: ContainerNodes) -> None:
    with pytest.raises(GroundError, match="cannot start gone"):
        nodes.start("gone")


def test_a_queue_database_is_set_aside_whole(nodes: ContainerNodes) -> None:
    for name in ("queue.db", "queue.db-wal", "mailbox-DB1.db"):
        (nodes.data("a") / name).write_text(name)
    assert nodes.set_aside_queue_database("a", "f1") == ["queue.db", "queue.db-wal"]
    assert [path.name for path in nodes.data("a").glob("*.db*")] == ["mailbox-DB1.db"]
    assert (nodes.data("a") / "set-aside-f1" / "queue.db").read_text() == "queue.db"


def _wait_for_banner(nodes: ContainerNodes) -> None:
    _wait_until(lambda: nodes.answers("a"))


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "not in time"


def _said(nodes: ContainerNodes, engine: docker.DockerClient) -> bytes:
    said: bytes = engine.containers.get(nodes.container("a")).logs()
    return said


def _address(nodes: ContainerNodes, engine: docker.DockerClient) -> str:
    networks = engine.containers.get(nodes.container("a")).attrs["NetworkSettings"]["Networks"]
    return str(next(iter(networks.values()))["IPAddress"])
