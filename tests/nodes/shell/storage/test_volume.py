"""The ballast that uses up the volume of a queue database."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.shell.storage import volume as volumes
from nodes.shell.storage.volume import Volume, bytes_wanted, size_of_ballast, write_ballast
from nodes.store.queue.database import queue_database_in_memory

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
