"""A damaged queue database is set aside and reported; nothing that was whole ever is."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from nodes.core.interface.inputs import DatabaseOpened
from nodes.core.interface.queue_changes import InsertMessage
from nodes.store.queue.database import Opening
from tests.nodes.store.samples import fetch, open_queue, primary_message

MESSAGES = 40


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a closed queue database of some pages, large bodies among them."""
    folder = tmp_path_factory.mktemp("filled")
    with open_queue(folder, "the old id").database as database:
        for number in range(1, MESSAGES + 1):
            body = f"made:{'x' * (number * 500)}"
            database.apply((InsertMessage(primary_message(number), body),), fetch)
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    shutil.copy(filled / "queue.db", tmp_path / "queue.db")
    return tmp_path


def open_new(folder: Path) -> Opening:
    opening = open_queue(folder, "the new id")
    opening.database.close()
    return opening


def is_whole(opened: DatabaseOpened) -> bool:
    return (opened.database_id, len(opened.messages)) == ("the old id", MESSAGES)


def test_a_file_cut_short_anywhere_is_set_aside(folder: Path) -> None:
    path, whole = folder / "queue.db", (folder / "queue.db").read_bytes()
    for size in [0, 1, 99, 100, 511, *range(4096, len(whole), 4096), len(whole) - 1]:
        path.write_bytes(whole[:size])
        opening = open_new(folder)
        assert opening.set_aside is not None, f"cut to {size} bytes"
        assert (opening.opened.database_id, opening.opened.created) == ("the new id", True)


def test_a_file_that_is_no_database_is_kept_under_another_name(folder: Path) -> None:
    path = folder / "queue.db"
    path.write_bytes(b"this is not a database, " * 400)
    aside = open_new(folder).set_aside
    assert aside is not None
    assert aside.path == str(path)
    assert aside.renamed_to == str(folder / "queue.db.old-20260105T080000Z")
    assert "not a database" in aside.reason
    assert Path(aside.renamed_to).read_bytes().startswith(b"this is not a database")


def test_a_second_file_set_aside_at_the_same_lab_time_gets_a_name_of_its_own(folder: Path) -> None:
    for _ in range(2):
        (folder / "queue.db").write_bytes(b"x" * 8192)
        open_new(folder)
    names = sorted(p.name for p in folder.glob("queue.db.old-*"))
    assert names == ["queue.db.old-20260105T080000Z", "queue.db.old-20260105T080000Z-2"]


def test_pages_overwritten_in_the_middle_are_noticed(folder: Path) -> None:
    path = folder / "queue.db"
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(8192))
    assert open_new(folder).set_aside is not None


@pytest.mark.parametrize("table", ["messages", "forks", "discards", "contacts", "bodies"])
def test_a_missing_table_is_named(table: str, folder: Path) -> None:
    with sqlite3.connect(folder / "queue.db") as connection:
        connection.execute(f"DROP TABLE {table}")
    connection.close()
    aside = open_new(folder).set_aside
    assert aside is not None
    assert aside.reason == f"tables are missing: {table}"


@pytest.mark.parametrize("version", [1, 99])
def test_an_older_or_newer_schema_is_set_aside(folder: Path, version: int) -> None:
    with sqlite3.connect(folder / "queue.db") as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    aside = open_new(folder).set_aside
    assert aside is not None
    assert aside.reason.startswith(f"schema version {version}: not ")


def test_a_wal_left_without_its_database_is_set_aside_too(folder: Path) -> None:
    (folder / "queue.db").unlink()
    (folder / "queue.db-wal").write_bytes(b"frames of a database that has gone")
    opening = open_new(folder)
    assert opening.set_aside is not None
    assert opening.opened.created
    assert (folder / "queue.db.old-20260105T080000Z-wal").exists()


def test_a_whole_file_is_opened_as_it_is(folder: Path) -> None:
    opening = open_new(folder)
    assert opening.set_aside is None
    assert is_whole(opening.opened)


def test_what_is_in_the_wal_only_is_read_and_not_set_aside(filled: Path, tmp_path: Path) -> None:
    """The files of a killed node: copied while the database is open."""
    alive, dead = tmp_path / "alive", tmp_path / "dead"
    alive.mkdir()
    dead.mkdir()
    with open_queue(alive, "the old id").database as database:
        for number in range(1, MESSAGES + 1):
            database.apply((InsertMessage(primary_message(number), "in:1"),), fetch)
        for name in ("queue.db", "queue.db-wal"):
            shutil.copy(alive / name, dead / name)
    opening = open_new(dead)
    assert opening.set_aside is None
    assert is_whole(opening.opened)


def test_a_node_killed_while_it_made_its_database_starts_anew_without_a_word(
    tmp_path: Path,
) -> None:
    (tmp_path / "queue.db.new").write_bytes(b"half")
    opening = open_new(tmp_path)
    assert opening.set_aside is None
    assert opening.opened.created
    assert sorted(p.name for p in tmp_path.iterdir()) == ["queue.db"]


def test_a_folder_that_is_not_there_is_no_damage(tmp_path: Path) -> None:
    with pytest.raises((sqlite3.OperationalError, OSError)):
        open_queue(tmp_path / "nowhere")
