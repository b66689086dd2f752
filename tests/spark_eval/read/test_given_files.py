"""A record may come from anywhere: nothing in it makes a reader hang, crash, or write elsewhere."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_eval.read.folder import given_json
from spark_eval.read.folder.given_json import parse_json, read_json
from spark_eval.results.whole_file import write_whole

SPOILT: dict[str, Callable[[Path], object]] = {
    "a FIFO": os.mkfifo,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a device that never ends": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "nothing": lambda path: None,
    "nested deep": lambda path: path.write_text("[" * 100_000),
    "a number too long": lambda path: path.write_text("9" * 5000),
    "no number": lambda path: path.write_text("[NaN]"),
    "a number beyond all": lambda path: path.write_text("[1e999]"),
    "no UTF-8": lambda path: path.write_bytes(b'"\xff"'),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_what_is_no_file_of_json_is_refused_at_once(
    tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    spoil(tmp_path / "host.json")
    with pytest.raises((OSError, ValueError)):
        read_json(tmp_path / "host.json")


def test_a_file_is_not_read_beyond_any_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given_json, "BYTES_MAX", 10)
    (tmp_path / "host.json").write_text("[1234567] ")
    assert read_json(tmp_path / "host.json") == [1234567]
    (tmp_path / "host.json").write_text("[1234567]  ")
    with pytest.raises(ValueError, match="is larger than"):
        read_json(tmp_path / "host.json")


def test_json_is_read_as_it_stands() -> None:
    assert parse_json('{"a": [1, 2.5, null, "x"]}') == {"a": [1, 2.5, None, "x"]}


@pytest.mark.parametrize("name", ["report.html", ".report.html.unfinished"])
def test_a_link_in_a_run_folder_is_replaced_and_not_followed(tmp_path: Path, name: str) -> None:
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / name).symlink_to(other)
    write_whole(tmp_path / "report.html", "page")
    assert (tmp_path / "report.html").read_text() == "page"
    assert other.read_text() == "kept"
