"""The ballast that uses up the volume of a queue database."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.shell.storage.ballast import bytes_wanted, size_of_ballast, write_ballast
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
