"""A record whose values are of other types than anybody wrote: its pages and stories bear with it,
or say so in a line, and nothing of it acts on a terminal.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from spark_eval.__main__ import main
from spark_eval.program.exit_codes import CRASHED
from spark_eval.program.printable import visible
from spark_eval.read.folder.run_folder import RunFolderError, open_run_folder
from spark_eval.report import suite
from spark_eval.report.page import ROWS, page_again
from spark_eval.report.render import read_facts
from spark_eval.report.rows import ReportRows
from spark_eval.story.terminal import story_lines
from tests.spark_eval.runs.run_builder import healthy

MESSAGE = "m000001.calm.7@outside.example"
NO_ROWS: dict[str, list[object]] = {field.name: [] for field in fields(ReportRows)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return healthy().write(tmp_path)


def _change(path: Path, changed: dict[str, object]) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


VERDICTS: dict[str, object] = {
    "a list": [],
    "without most": {"verdict": "pass", "claims": []},
    "claims of another shape": {"verdict": "pass", "claims": [{"examples": "x"}]},
}


@pytest.mark.parametrize("verdict", VERDICTS.values(), ids=VERDICTS)
def test_a_report_of_what_no_evaluation_left_is_not_written(folder: Path, verdict: object) -> None:
    (folder / "verdict.json").write_text(json.dumps(verdict))
    (folder / "evaluation").mkdir()
    (folder / "evaluation" / ROWS).write_text(json.dumps(NO_ROWS))
    with pytest.raises(RunFolderError, match="cannot be read"):
        page_again(open_run_folder(folder))
    assert not (folder / "report.html").exists()


def test_the_page_of_a_suite_that_no_suite_left_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "suite.json").write_text("[]")
    assert suite.main([str(tmp_path)]) == CRASHED


PLANS: dict[str, dict[str, object]] = {
    "no list of servers": {"topology": {"servers": None}},
    "servers that are none": {"topology": {"servers": [None, {}, "a"]}},
    "no topology": {"topology": "a"},
    "no length": {"duration_ms": "long"},
}


@pytest.mark.parametrize("changed", PLANS.values(), ids=PLANS)
def test_what_a_plan_does_not_say_leaves_its_part_of_the_page_empty(
    folder: Path, changed: dict[str, object]
) -> None:
    _change(folder / "plan.json", changed)
    facts = read_facts(folder, {"claims": []})
    assert facts.end_ms > 0
    assert ("duration_ms" in changed) == bool(facts.lanes)
    assert facts.servers in (["?"], []) or "duration_ms" in changed


STORIES: dict[str, tuple[str, dict[str, object]]] = {
    "faults that are none": ("plan.json", {"faults": [None, "f1", {"id": "f1", "links": 7}]}),
    "links that are none": ("plan.json", {"faults": [{"id": "f1", "links": [7, {"from": 1}]}]}),
    "no resolution": ("host.json", {"clock_resolution_ms": [1]}),
    "no zero": ("host.json", {"monotonic_zero_ns": "0"}),
    "no speed": ("plan.json", {"clock": {"speed": "fast", "origin": "2026-01-05T08:00:00Z"}}),
}


@pytest.mark.parametrize(("name", "changed"), STORIES.values(), ids=STORIES)
def test_what_is_not_as_it_should_be_is_left_out_of_a_story(
    folder: Path, name: str, changed: dict[str, object]
) -> None:
    _change(folder / name, changed)
    phases = [{"fault": "f1", "phase": phase, "at_ms": 60_000} for phase in ("intended", "applied")]
    (folder / "faults.jsonl").write_text("".join(json.dumps(row) + "\n" for row in phases))
    life = {"event": "started", "at_ms": 1, "mono_ns": "1", "ahead_ms": []}
    (folder / "logs/par-mbx1/lifecycle.jsonl").write_text(json.dumps(life) + "\n")
    said = story_lines(open_run_folder(folder), MESSAGE)
    assert any("SMTP HARECEIVE" in line for line in said)


def test_nothing_of_a_record_acts_on_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = folder / "ledger.jsonl"
    first, *rest = ledger.read_text().splitlines()
    odd = json.dumps(json.loads(first) | {"mail": "\x1b[31m\u202e\nforged"})
    ledger.write_text("\n".join([odd, *rest]) + "\n")
    assert main([str(folder), "--story", MESSAGE]) == 0
    renamed = folder.rename(folder.with_name("\x1b[2Jrun"))
    assert main([str(renamed), "--story", "\x9bnone"]) == 4
    said = capsys.readouterr()
    assert (said.out + said.err).replace("\n", "").isprintable()
    assert "\\x1b[31m\\u202e\\nforged" in said.out
    assert "\\x1b[2Jrun" in said.err


def test_text_that_can_be_seen_stays_as_it_is() -> None:
    assert visible("déjà vu → 三 …") == "déjà vu → 三 …"
