"""A log keeps its whole lines, whatever became of the process that wrote it."""

from __future__ import annotations

from pathlib import Path

from nodes.shell.logs.files import DatedFile, LineFile


def append(path: Path, *lines: str, header: str = "") -> None:
    file = LineFile(path, header)
    for line in lines:
        file.append(line)
    file.close()


def test_lines_are_appended_across_restarts(tmp_path: Path) -> None:
    path = tmp_path / "log"
    append(path, "one")
    append(path, "two")
    assert path.read_text() == "one\ntwo\n"


def test_a_torn_last_line_is_ended_and_never_continued(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("whole\nto")
    append(path, "next")
    assert path.read_text() == "whole\nto\nnext\n"


def test_a_header_stands_once_at_the_top(tmp_path: Path) -> None:
    path = tmp_path / "log"
    append(path, "one", header="#top\n")
    append(path, "two", header="#top\n")
    assert path.read_text() == "#top\none\ntwo\n"


def test_half_a_character_does_not_stop_a_log(tmp_path: Path) -> None:
    append(tmp_path / "log", "\udcff")
    assert (tmp_path / "log").read_text() == "\\udcff\n"


def test_a_dated_series_has_a_file_for_each_stamp(tmp_path: Path) -> None:
    series = DatedFile(tmp_path, "MSGTRK")
    for stamp, line in [("2026010508", "a"), ("2026010508", "b"), ("2026010509", "c")]:
        series.append(stamp, lambda: "#top\n", line)
    series.close()
    assert (tmp_path / "MSGTRK2026010508-1.LOG").read_text() == "#top\na\nb\n"
    assert (tmp_path / "MSGTRK2026010509-1.LOG").read_text() == "#top\nc\n"
