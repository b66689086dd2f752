"""The hand on the servers, on a real container of the node image: kill, look, start."""

import time
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from lab.errors import GroundError
from lab.hosts.containers.images import Images
from lab.hosts.containers.nodes import SMTP_PORT, ContainerNodes
from lab.hosts.containers.provision import Ground

pytestmark = pytest.mark.engine

SOME_SERVER = ["python3", "-m", "aiosmtpd", "-n", "-l", f"0.0.0.0:{SMTP_PORT}"]
DEADLINE_SECONDS = 20.0


@pytest.fixture
def nodes(
    tmp_path: Path, docker_engine: docker.DockerClient, lab_images: Images
) -> Iterator[ContainerNodes]:
    """One server, `a`: some SMTP server in the node image."""
    testcontainers_config.ryuk_disabled = True
    with DockerContainer(lab_images.node).with_command(SOME_SERVER) as container:
        name = str(container.get_wrapped_container().name)
        (tmp_path / "servers" / "a" / "data").mkdir(parents=True)
        ground = Ground("r", tmp_path, "", "", ("", 0), {"a": name, "gone": "nobody"}, "", "", {})
        yield ContainerNodes(docker_engine, ground)


def test_a_killed_server_has_exit_code_137_and_comes_back(nodes: ContainerNodes) -> None:
    _wait_for_banner(nodes)
    assert nodes.kill("a") == 137
    assert not nodes.is_running("a")
    nodes.start("a")
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
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not nodes.answers("a"):
        assert time.monotonic() < deadline, "no banner in time"
