"""Volumes of servers: a file system in a file that nothing but a server's data has room in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.hosts.containers.ground import volumes
from lab.program.errors import GroundError
from tests.lab.hosts.containers.six_servers import two_servers

MIB = 1024 * 1024
SIZE = 16 * MIB

needs_mounts = pytest.mark.skipif(
    not volumes.can_be_mounted(), reason="to mount takes root, and an engine that sees it"
)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """The data folder of a server, whose volume goes in any case."""
    folder = tmp_path / "servers" / "one" / "data"
    folder.mkdir(parents=True)
    yield folder
    volumes.unmount_all(tmp_path)


@pytest.mark.engine
@needs_mounts
def test_a_volume_is_as_large_as_it_is_to_be_and_fills_up(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volumes, "sizes", lambda plan: {"one": SIZE})
    servers = data.parents[1]
    for _ in range(2):  # the second time it stands already
        volumes.mount_all(two_servers(), servers)
    assert list(volumes.mounted_below(servers)) == [data]
    assert volumes.servers_with_one(servers.parent) == ["one"]
    assert not list(data.iterdir())
    found = os.statvfs(data)
    assert 0.95 * SIZE < found.f_bavail * found.f_frsize <= SIZE
    with pytest.raises(OSError, match="No space left"):
        (data / "large").write_bytes(bytes(SIZE))
    volumes.unmount_all(servers)
    assert not list(volumes.mounted_below(servers))


@pytest.mark.engine
@needs_mounts
def test_one_that_is_in_use_is_not_let_go_of(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volumes, "sizes", lambda plan: {"one": SIZE})
    volumes.mount_all(two_servers(), data.parents[1])
    with (data / "open").open("w"), pytest.raises(GroundError, match=r"umount .*busy"):
        volumes.unmount_all(data.parents[1])


def test_without_the_right_to_mount_there_is_none(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volumes, "can_be_mounted", lambda: False)
    monkeypatch.setattr(volumes, "sizes", lambda plan: {"one": SIZE})
    volumes.mount_all(two_servers(), data.parents[1])
    assert not list(volumes.mounted_below(data.parents[1]))


def test_only_servers_with_a_size_have_one() -> None:
    assert volumes.sizes(two_servers()) == {}


def test_a_folder_with_a_blank_in_its_name_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"36 25 7:0 / {tmp_path}/a\\040b/data rw - ext4 /dev/loop0 rw\n")
    monkeypatch.setattr(volumes, "OWN_MOUNTS", mounts)
    assert list(volumes.mounted_below(tmp_path)) == [tmp_path / "a b" / "data"]
    assert not list(volumes.mounted_below(tmp_path / "other"))
