"""What is left of a server that is lost: nothing of its own (TP-8)."""

from pathlib import Path
from typing import cast

import docker
import pytest
from docker.errors import NotFound

from lab.hosts.containers.ground.provision import Ground
from lab.hosts.containers.nodes import LAST_WORDS, ContainerNodes
from nodes.shell.chaos.control_files import GO, control_file
from nodes.shell.chaos.machine import Machine, order_machine, read_machine
from nodes.shell.storage.directory import note_created, read_directory


class StandInContainer:
    """Of an engine that has this one, until it is removed."""

    def __init__(self) -> None:
        self.is_there, self.removed_volumes = True, False
        self.status = "exited"
        self.containers = self

    def get(self, name: str) -> "StandInContainer":
        if not self.is_there:
            raise NotFound(name)
        return self

    def logs(self, **_: bool) -> bytes:
        return b"its last words\n"

    def remove(self, *, v: bool, force: bool) -> None:
        self.is_there, self.removed_volumes = False, v and force


@pytest.fixture
def engine() -> StandInContainer:
    return StandInContainer()


@pytest.fixture
def lab(tmp_path: Path, engine: StandInContainer) -> ContainerNodes:
    ground = Ground("run-1", tmp_path, "", "", ("", 0), {"a": "run-1-a"}, "", "", {})
    nodes = ContainerNodes(cast(docker.DockerClient, engine), ground)
    nodes.data("a").mkdir(parents=True)
    return nodes


def test_its_container_and_all_that_it_kept_are_gone_and_its_last_words_stay(
    lab: ContainerNodes, engine: StandInContainer
) -> None:
    data = lab.data("a")
    for name in ("queue.db", "queue.db-wal", "mailbox-DB1.db", "clock.json", "ballast"):
        (data / name).write_text("of the old one")
    (data / "set-aside-f1").mkdir()
    (data / "set-aside-f1" / "queue.db").write_text("older")
    assert lab.left == ["a"]
    lab.lose("a")
    assert list(data.iterdir()) == []
    assert engine.removed_volumes
    assert (data.parent / LAST_WORDS).read_text() == "its last words\n"
    assert (lab.left, lab.is_running("a"), lab.stop_all()) == ([], False, {})


def test_what_the_lab_itself_wrote_stays(lab: ContainerNodes) -> None:
    data = lab.data("a")
    order_machine(data, Machine(order=3, skew_ms=5))
    note_created(data, ["DB1"])
    go = control_file(data, "f1", GO)
    go.parent.mkdir()
    go.write_text("")
    lab.lose("a")
    assert read_machine(data).skew_ms == 5
    assert read_directory(data) is not None
    assert go.exists()
