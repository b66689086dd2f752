"""The ballast that uses up the volume of a queue database."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nodes.shell.storage import volume as volumes
from nodes.shell.storage.volume import Volume, bytes_wanted, size_of_ballast, write_ballast
from nodes.store.queue.database import open_queue_database, queue_database_in_memory

MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("percent", "used", "wanted"), [(0, 0, 0), (97, 0, 97), (97, 90, 7), (97, 98, 0), (1, 0, 1)]
)
def test_it_is_what_is_missing_to_that_many_percent(percent: int, used: int, wanted: int) -> None:
    assert bytes_wanted(100, percent, used) == wanted


def test_a_part_of_a_byte_is_a_whole_one_so_that_the_percentage_is_reached() -> None:
    assert bytes_wanted(101, 97, 0) * 100 // 101 == 97


def test_it_takes_its_blocks_from_the_disk_and_gives_them_back(tmp_path: Path) -> None:
    for size in (MIB, 3 * MIB, 2 * MIB):
        write_ballast(tmp_path, size)
        assert size_of_ballast(tmp_path) == size
        assert (tmp_path / "ballast").stat().st_blocks * 512 >= size
    write_ballast(tmp_path, 0)
    assert size_of_ballast(tmp_path) == 0
    assert not list(tmp_path.iterdir())


def test_a_queue_database_uses_what_it_holds_and_frees_it_again() -> None:
    database = queue_database_in_memory(0, "a")
    empty = database.used_bytes
    run = database.connection.execute
    run("CREATE TABLE filling (content)")
    run("INSERT INTO filling VALUES (zeroblob(1000000))")
    assert database.used_bytes >= empty + 1_000_000
    run("DROP TABLE filling")
    assert database.used_bytes <= empty + 10_000


def test_what_the_disk_has_left_counts_where_it_is_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A volume of 100 MiB on a disk of its own, of which 30 MiB are free; and on a large one."""
    database, left = queue_database_in_memory(0, "a"), 30 * MIB
    monkeypatch.setattr(volumes, "free_bytes", lambda folder: left)
    own = Volume(tmp_path, 100 * MIB)
    assert own.used_bytes(database) == 70 * MIB
    left = 500_000 * MIB
    assert own.used_bytes(database) == database.used_bytes < MIB


def test_pages_that_are_free_in_the_file_are_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = queue_database_in_memory(0, "a")
    monkeypatch.setattr(volumes, "free_bytes", lambda folder: 30 * MIB)
    database.connection.execute("CREATE TABLE filling (content)")
    database.connection.execute("INSERT INTO filling VALUES (zeroblob(10000000))")
    database.connection.execute("DROP TABLE filling")
    assert 60 * MIB < Volume(tmp_path, 100 * MIB).used_bytes(database) < 61 * MIB


def test_a_volume_is_used_up_to_so_many_percent_of_what_is_there(tmp_path: Path) -> None:
    database, own = queue_database_in_memory(0, "a"), Volume(tmp_path, 4 * MIB)
    for percent in (97, 99):
        own.use(database, percent)
        assert own.used_bytes(database) * 100 // (4 * MIB) == percent
    own.use(database, 0)
    assert not list(tmp_path.iterdir())


class SmallDisk:
    """A disk of its own, with `left` bytes free, by what stands in for `statvfs`."""

    def __init__(self, folder: Path, size: int, left: int) -> None:
        self._folder, self._size, self.left = folder, size, left

    def statvfs(self, folder: Path) -> os.statvfs_result:
        reserve = folder / "reserve"
        left = self.left - (reserve.stat().st_size if reserve.exists() else 0)
        return os.statvfs_result((1, 1, self._size, left, left, 0, 0, 0, 0, 255))


def test_a_reserve_is_let_go_of_where_nothing_is_left_and_kept_again_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, database = SmallDisk(tmp_path, 64 * MIB, 40 * MIB), queue_database_in_memory(0, "a")
    monkeypatch.setattr(os, "statvfs", small.statvfs)
    own, reserve = Volume(tmp_path, 64 * MIB), tmp_path / "reserve"
    own.look_after(database)
    assert reserve.stat().st_size == 8 * MIB
    assert reserve.stat().st_blocks * 512 >= 8 * MIB
    small.left = 8 * MIB + MIB // 2
    own.look_after(database)
    assert not reserve.exists()
    own.look_after(database)
    assert not reserve.exists(), "kept while nothing has gone"
    small.left = 20 * MIB
    own.look_after(database)
    assert reserve.exists()


def test_a_large_disk_that_is_not_its_own_has_no_reserve(tmp_path: Path) -> None:
    Volume(tmp_path, 64 * MIB).look_after(queue_database_in_memory(0, "a"))
    assert not list(tmp_path.iterdir())


def test_of_a_full_disk_a_database_is_made_room_for_by_the_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal is in the file then, and begins anew."""
    opening = open_queue_database(tmp_path / "queue.db", 0, lambda: "a")
    with opening.database as database:
        database.connection.execute("CREATE TABLE filling (content)")
        database.connection.execute("INSERT INTO filling VALUES (zeroblob(3000000))")
        journal = tmp_path / "queue.db-wal"
        assert journal.stat().st_size > 3_000_000
        (tmp_path / "reserve").write_bytes(b"")
        small = SmallDisk(tmp_path, 64 * MIB, 0)
        monkeypatch.setattr(os, "statvfs", small.statvfs)
        Volume(tmp_path, 64 * MIB).look_after(database)
        assert journal.stat().st_size == 0
