"""A node held at a place, seen from the lab: what both sides of the control files make of it."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException

from lab.hosts.containers.ground.provision import Ground
from lab.hosts.containers.nodes import ContainerNodes
from lab.program.errors import GroundError
from nodes.shell.chaos.control_files import ControlFiles, control_file


@pytest.fixture
def lab(tmp_path: Path) -> ContainerNodes:
    ground = Ground("run-1", tmp_path, "", "", ("", 0), {"a": "run-1-a"}, "", "", {})
    return ContainerNodes(docker.DockerClient("tcp://127.0.0.1:1", version="1.41"), ground)


def node(lab: ContainerNodes, longest_s: float = 20.0) -> ControlFiles:
    return ControlFiles(lab.data("a"), lambda: 7, lambda: 8, _fail, longest_s)


def _fail(error: BaseException) -> None:
    raise error


def test_a_node_that_has_not_been_held_has_reached_nothing(lab: ContainerNodes) -> None:
    assert lab.reached("a", "f1") is None
    node(lab)
    assert lab.reached("a", "f1") is None


def test_the_lab_sees_a_node_held_and_the_node_goes_on_when_it_is_let_go(
    lab: ContainerNodes,
) -> None:
    async def hold() -> None:
        gone = asyncio.Event()
        node(lab).held(("f1",), gone.set)
        assert lab.reached("a", "f1") == {"at_ms": 7, "mono_ns": 8}
        assert lab.let_go("a", "f1")
        await asyncio.wait_for(gone.wait(), 20)

    asyncio.run(hold())


def test_two_faults_at_one_place_hold_the_node_until_both_have_let_it_go(
    lab: ContainerNodes,
) -> None:
    async def hold() -> None:
        gone = asyncio.Event()
        node(lab).held(("f1", "f2"), gone.set)
        lab.let_go("a", "f1")
        for _ in range(5):
            await asyncio.sleep(0.005)
        assert not gone.is_set()
        lab.let_go("a", "f2")
        await asyncio.wait_for(gone.wait(), 20)

    asyncio.run(hold())


def test_the_lab_is_told_that_a_node_did_not_wait(lab: ContainerNodes) -> None:
    async def hold() -> None:
        gone = asyncio.Event()
        node(lab, longest_s=0.0).held(("f1",), gone.set)
        await asyncio.wait_for(gone.wait(), 20)

    asyncio.run(hold())
    assert lab.reached("a", "f1") is not None
    assert not lab.let_go("a", "f1")


def test_a_node_that_the_lab_has_given_up_goes_on_at_once(lab: ContainerNodes) -> None:
    held = node(lab)
    lab.let_go("a", "f1")

    async def hold() -> None:
        gone = asyncio.Event()
        held.held(("f1",), gone.set)
        assert gone.is_set()

    asyncio.run(hold())


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A file that the lab may write, and a server may not."""
    path = tmp_path / "elsewhere"
    path.mkdir()
    (path / "kept").write_text("kept")
    return path


def unharmed(elsewhere: Path) -> bool:
    return [p.name for p in elsewhere.iterdir()] == ["kept"] and (
        (elsewhere / "kept").read_text() == "kept"
    )


@pytest.mark.parametrize("name", ["machine.new", ".machine.json.new", "machine.json"])
def test_an_order_follows_no_link_of_the_node(
    lab: ContainerNodes, elsewhere: Path, name: str
) -> None:
    lab.data("a").mkdir(parents=True)
    (lab.data("a") / name).symlink_to(elsewhere / "kept")
    with suppress(GroundError, DockerException):
        lab.fill_disk("a", is_full=True)
    assert unharmed(elsewhere)
    assert not (lab.data("a") / "machine.json").is_symlink() or name == "machine.json"


@pytest.mark.parametrize("target", ["kept", "new"])
def test_letting_go_follows_no_link_of_the_node(
    lab: ContainerNodes, elsewhere: Path, target: str
) -> None:
    node(lab)
    where = control_file(lab.data("a"), "f1", "go")
    where.symlink_to(elsewhere / target)
    assert lab.let_go("a", "f1")
    assert unharmed(elsewhere)
    assert not where.is_symlink()


def test_letting_go_enters_no_folder_by_a_link(lab: ContainerNodes, elsewhere: Path) -> None:
    lab.data("a").mkdir(parents=True)
    control_file(lab.data("a"), "f1", "go").parent.symlink_to(elsewhere)
    with pytest.raises(GroundError):
        lab.let_go("a", "f1")
    assert unharmed(elsewhere)


WORDS = {
    "a FIFO": os.mkfifo,
    "a link": lambda path: path.symlink_to("/etc/hostname"),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "no object": lambda path: path.write_text("[]"),
    "nested deep": lambda path: path.write_text("[" * 30_000),
    "no end": lambda path: path.write_text("{" + " " * 100_000 + "}"),
    "no text": lambda path: path.write_bytes(b"\xff\x00"),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("put", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("name", ["breakpoints/f1.reached", "machine.json", "machine-found.json"])
def test_whatever_a_node_puts_there_is_the_grounds_failure(
    lab: ContainerNodes, name: str, put: Callable[[Path], object]
) -> None:
    node(lab)
    put(lab.data("a") / name)
    with pytest.raises(GroundError):
        lab.reached("a", "f1") if "f1" in name else lab.machine("a")


def test_letting_a_node_go_that_never_started_is_no_error(lab: ContainerNodes) -> None:
    assert lab.let_go("a", "f1")


def test_a_word_that_cannot_be_read_is_said(lab: ContainerNodes) -> None:
    node(lab)
    control_file(lab.data("a"), "f1", "reached").write_text("half")
    with pytest.raises(GroundError, match="where a is held"):
        lab.reached("a", "f1")


def test_a_disk_is_not_damaged_by_way_of_a_link_that_the_server_made(
    lab: ContainerNodes, tmp_path: Path
) -> None:
    lab.data("a").mkdir(parents=True, exist_ok=True)
    (tmp_path / "elsewhere").write_text("whole")
    (lab.data("a") / "queue.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GroundError, match=r"queue\.db is a link"):
        lab.damage_queue_database("a")
    assert (tmp_path / "elsewhere").read_text() == "whole"


def test_a_queue_database_is_not_set_aside_by_way_of_a_link_that_the_server_made(
    lab: ContainerNodes, tmp_path: Path
) -> None:
    lab.data("a").mkdir(parents=True, exist_ok=True)
    (lab.data("a") / "queue.db").write_text("whole")
    (lab.data("a") / "set-aside-f1").symlink_to(tmp_path)
    with pytest.raises(GroundError, match="set-aside-f1 is a link"):
        lab.set_aside_queue_database("a", "f1")
