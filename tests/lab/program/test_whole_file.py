"""What cannot be written says which file it is, and leaves what was there."""

import errno
import os
from pathlib import Path

import pytest

from lab.program.whole_file import append_line, whole_file, write_whole

FULL = Path("/dev/full")


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    for text in ("one", "two"):
        write_whole(path, text)
        assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_named_by_the_file_that_found_it_so(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("before")
    with pytest.raises(OSError, match=r"plan\.json") as raised, whole_file(path):
        FULL.write_text("more than there is room for")
    assert raised.value.errno == errno.ENOSPC
    assert raised.value.filename == str(path)
    assert path.read_text() == "before"


def test_another_file_that_is_in_the_way_keeps_its_own_name(tmp_path: Path) -> None:
    other = tmp_path / "gone.yaml"
    with pytest.raises(FileNotFoundError) as raised, whole_file(tmp_path / "plan.json"):
        other.read_text()
    assert raised.value.filename == str(other)


def test_a_line_that_has_no_room_names_its_file(tmp_path: Path) -> None:
    descriptor = os.open(FULL, os.O_WRONLY)
    try:
        with pytest.raises(OSError, match=r"ledger\.jsonl") as raised:
            append_line(descriptor, tmp_path / "ledger.jsonl", "{}")
    finally:
        os.close(descriptor)
    assert raised.value.errno == errno.ENOSPC


def test_a_line_that_the_system_takes_in_pieces_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = tmp_path / "ledger.jsonl", os.write
    monkeypatch.setattr(os, "write", lambda to, text: write(to, text[:2]))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    append_line(descriptor, path, '{"type":"message"}')
    os.close(descriptor)
    assert path.read_text() == '{"type":"message"}\n'
