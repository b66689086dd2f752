"""A record is held against the list that the lab wrote when it was whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_eval.read.damage import NO_SHAPE
from spark_eval.read.folder.file_list import (
    CHANGED,
    FILE_LIST,
    GONE,
    NO_LIST,
    UNLISTED,
    departures,
)
from spark_eval.read.folder.files import FolderFiles
from spark_eval.read.heading import heading_of
from tests.spark_eval.runs.file_lists import with_list
from tests.spark_eval.runs.run_builder import healthy

LEDGER, MAILBOXES = "ledger.jsonl", "mailboxes/DB1.jsonl"
LOG = "logs/par-mbx1/MSGTRK2026010508-1.LOG"
FURTHER = "logs/par-mbx1/MSGTRK2026010509-1.LOG"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_list(healthy().write(tmp_path))


def found(folder: Path) -> list[tuple[str, str]]:
    files = FolderFiles(folder)
    return [(each.file, each.damage) for each in departures(files, heading_of(files).manifest)]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def without_its_last_line(path: Path) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def with_another_letter(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def test_a_record_as_the_lab_left_it_departs_from_nothing(folder: Path) -> None:
    assert found(folder) == []


@pytest.mark.parametrize("name", [LEDGER, MAILBOXES, LOG])
@pytest.mark.parametrize("change", [cut, without_its_last_line, with_another_letter])
def test_a_file_that_was_changed_is_named(
    folder: Path, name: str, change: Callable[[Path], None]
) -> None:
    change(folder / name)
    assert found(folder) == [(name, CHANGED)]


@pytest.mark.parametrize("name", ["plan.json", "host.json"])
def test_a_plan_that_was_written_anew_is_named(folder: Path, name: str) -> None:
    content = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps(content | {"duration_ms": 1}))
    assert found(folder) == [(name, CHANGED)]


def test_a_file_that_was_emptied_and_one_that_is_gone_are_named(folder: Path) -> None:
    empty(folder / MAILBOXES)
    (folder / LOG).unlink()
    assert found(folder) == [(LOG, GONE), (MAILBOXES, CHANGED)]


def test_a_file_that_came_later_is_named(folder: Path) -> None:
    (folder / FURTHER).write_bytes((folder / LOG).read_bytes())
    assert found(folder) == [(FURTHER, UNLISTED)]


def test_what_is_no_evidence_may_come_and_go(folder: Path) -> None:
    (folder / "verdict.json").write_text("{}")
    (folder / "logs" / "par-mbx1" / "stderr.log").write_text("")
    assert found(folder) == []


def test_a_list_that_was_promised_and_is_not_there_is_named(folder: Path) -> None:
    (folder / FILE_LIST).unlink()
    assert found(folder) == [(FILE_LIST, NO_LIST)]


@pytest.mark.parametrize("text", ["{", "[]", '{"files": [{"file": "ledger.jsonl"}]}', "7"])
def test_a_list_of_another_shape_is_named(folder: Path, text: str) -> None:
    (folder / FILE_LIST).write_text(text)
    assert found(folder) == [(FILE_LIST, NO_SHAPE)]


def test_a_record_that_was_never_promised_a_list_is_held_against_none(tmp_path: Path) -> None:
    assert found(healthy().write(tmp_path)) == []


def test_a_promise_that_was_taken_back_is_seen_by_the_list(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["file_list"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert found(folder) == [("manifest.json", CHANGED)]
