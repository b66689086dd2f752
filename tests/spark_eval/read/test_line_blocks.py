"""Lines of any number are read in little memory; one that is too long is named."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path

import pytest

from spark_eval.__main__ import main
from spark_eval.read.folder import line_blocks
from spark_eval.read.folder.line_blocks import LINE_MAX_BYTES, blocks
from spark_eval.read.folder.run_folder import RunFolderError, open_run_folder
from spark_eval.report.page import ROWS
from spark_eval.report.rows import ReportRows
from spark_eval.story.story import stories
from tests.spark_eval.runs.run_builder import healthy

GIB = 2**30
MESSAGE = "<m000001.calm.7@outside.example>"
QUESTIONS = {"evaluate": [], "story": ["--story", MESSAGE], "report": ["--report-only"]}
LOG = "logs/par-mbx1/MSGTRK2026010508-1.LOG"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a run that was evaluated."""
    folder = healthy().write(tmp_path)
    (folder / "verdict.json").write_text('{"claims": [], "requirements": {}}')
    (folder / "evaluation").mkdir()
    rows = {name: list[object]() for name in ReportRows.__annotations__}
    (folder / "evaluation" / ROWS).write_text(json.dumps(rows))
    return folder


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_blocks_are_the_lines_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(line_blocks, "BLOCK_BYTES", size)
    chance = random.Random(size)
    for _ in range(200):
        text = "".join(chance.choice("a\n") for _ in range(chance.randrange(30))).encode()
        (tmp_path / "log").write_bytes(text)
        found = list(blocks(tmp_path, tmp_path / "log"))
        assert b"".join(block for _, block in found) == text
        assert all(block.endswith(b"\n") for _, block in found[:-1])
        for at, (number, _) in enumerate(found):
            assert number == 1 + sum(block.count(b"\n") for _, block in found[:at])


@pytest.mark.parametrize("line", [1, 2, 900])
@pytest.mark.parametrize("length", [11, 12, 40])
def test_a_line_that_is_too_long_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: int, length: int
) -> None:
    monkeypatch.setattr(line_blocks, "BLOCK_BYTES", 7)
    monkeypatch.setattr(line_blocks, "LINE_MAX_BYTES", 10)
    (tmp_path / "log").write_bytes(b"\n" * (line - 1) + b"x" * length + b"\nafter\n")
    with pytest.raises(RunFolderError, match=rf"log: line {line} is longer than 10 b"):
        list(blocks(tmp_path, tmp_path / "log"))
    (tmp_path / "log").write_bytes(b"\n" * (line - 1) + b"x" * 10 + b"\nafter\n")
    assert sum(len(block) for _, block in blocks(tmp_path, tmp_path / "log")) == line - 1 + 17


@pytest.mark.parametrize(
    ("question", "name"),
    [("evaluate", LOG), ("story", LOG), *((each, "faults.jsonl") for each in QUESTIONS)],
)
def test_a_file_of_three_gigabytes_ends_a_question_with_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str], question: str, name: str
) -> None:
    (folder / name).touch()
    with (folder / name).open("r+b") as file:
        file.truncate(3 * GIB)
    tracemalloc.start()
    try:
        assert main([str(folder), *QUESTIONS[question]]) == 4
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert f"{name}: line " in capsys.readouterr().err
    assert peak < 8 * LINE_MAX_BYTES


@pytest.mark.parametrize("words", QUESTIONS.values(), ids=QUESTIONS)
def test_a_line_of_two_hundred_megabytes_is_named_with_its_number(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    faults = folder / "faults.jsonl"
    first = b'{"fault": "f1", "phase": "intended"}\n'
    faults.write_bytes(first)
    with faults.open("r+b") as file:
        file.truncate(200 * 2**20)
    assert main([str(folder), *words]) == 4
    assert f"faults.jsonl: line 2 is longer than {LINE_MAX_BYTES} bytes" in capsys.readouterr().err


def test_a_story_is_found_in_a_large_ledger_in_little_memory(folder: Path) -> None:
    """As much of its own run as a night has, beside it: 200 MB."""
    ledger = folder / "ledger.jsonl"
    other = b'{"type": "attempt", "message_id": "<other@x>", "attempt": 1}\n' * 10_000
    with ledger.open("ab") as file:
        for _ in range(200 * 2**20 // len(other)):
            file.write(other)
    tracemalloc.start()
    try:
        told = stories(open_run_folder(folder), [MESSAGE])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert told
    assert peak < 8 * LINE_MAX_BYTES
