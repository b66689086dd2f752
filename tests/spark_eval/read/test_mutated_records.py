"""Whatever a record says: it is judged, a story, a report and a comparison's sides are read, or 4
with a line.

`SHADOWLAB_FUZZ` is the number of records (`make fuzz`: 10,000). No session of Spark is needed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from spark_eval.__main__ import main
from spark_eval.compare.comparison import compare_claims, compare_verdicts, count_numbers
from spark_eval.compare.side import open_sides
from spark_eval.program.exit_codes import CRASHED
from spark_eval.read.folder.files import FolderFiles
from spark_eval.read.folder.run_folder import RunFolderError, open_run_folder
from spark_eval.report.page import ROWS
from spark_eval.results.arrow import ARROW_SCHEMAS
from spark_eval.results.counts import NO_DELIVERY, NO_PROMOTION, NO_SAFETY_NET
from spark_eval.results.exposure import NO_EXPOSURE
from spark_eval.spread.whole_run import whole_run
from spark_eval.sweep.folder import open_sweep
from spark_eval.sweep.program import conclude
from tests.lab.cli.mutated_record import mutated, mutated_line
from tests.spark_eval.read.test_links import SWEEP
from tests.spark_eval.runs import report_rows as of
from tests.spark_eval.runs.file_lists import with_list
from tests.spark_eval.runs.run_builder import healthy

COUNT = int(os.environ.get("SHADOWLAB_FUZZ", "100"))
BLOCK = 50
MESSAGE = "<m000001.calm.7@outside.example>"
EXAMPLE = {
    "which": "violated", "subject": MESSAGE, "at_ms": 1, "detail": "lost",
    "refs": [{"file": "ledger.jsonl", "line": 1}],
}  # fmt: skip
CLAIM = {
    "name": "no_loss", "status": "violated", "requirements": ["SR-1"], "asked": 3, "violations": 1,
    "unknown": 0, "reason": "", "examples": [EXAMPLE], "cause": "lost", "example": EXAMPLE,
}  # fmt: skip
VERDICT = {
    "version": 1, "run": "calm", "scenario": "calm", "host": "simulator", "seed": 7,
    "verdict": "fail", "claims": [CLAIM], "delivery": NO_DELIVERY,
    "promotion": NO_PROMOTION, "safety_net": NO_SAFETY_NET,
    "exposure": NO_EXPOSURE, "requirements": {"SR-1": "violated"}, "foretold": "pass",
    "not_as_foretold": [], "reasons": ["no_loss is violated"], "clocks_off": [], "log_damage": [],
}  # fmt: skip
RESULT = {
    "run": "calm-1", "seed": 1, "verdict": "fail", "exit_code": 1, "reasons": [],
    "foretold": "pass", "not_as_foretold": [], "claims": [CLAIM],
    "requirements": {"SR-1": "violated"}, "settings": {}, "coverage": {"during": {"kill": 1}},
}  # fmt: skip
ROWS_SHOWN = of.rows(
    faults=[of.fault("f1"), of.cut("f2", "par-mbx1", "par-mbx2")],
    moments=[of.moment("restart", of.MINUTE)],
    delays=[of.delay(of.MINUTE, 900), of.delay(of.MINUTE, 90_000, late=True)],
    undelivered=[of.lost(of.MINUTE)],
    undelivered_slices=of.counted([of.lost(of.MINUTE)]),
    messages=[of.message(1), of.message(2, "lost")],
    promotion_points=[of.promotion("late", of.MINUTE)],
    stories=[of.story_line(1)],
)
LIFECYCLE = "logs/par-mbx1/lifecycle.jsonl"
OF_LINES = ("ledger.jsonl", "faults.jsonl", LIFECYCLE, "logs/par-mbx1/queues.jsonl")
WHOLE = ("plan.json", "manifest.json", "host.json", "files.json", "verdict.json")
ROWS_FILE = f"evaluation/{ROWS}"

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(1200)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a run that was evaluated."""
    folder = with_list(healthy().write(tmp_path / "runs"))
    (folder / "verdict.json").write_text(json.dumps(VERDICT))
    (folder / "evaluation").mkdir()
    (folder / ROWS_FILE).write_text(ROWS_SHOWN.as_json())
    return folder


@pytest.mark.parametrize("first", range(0, COUNT, BLOCK))
def test_a_mutated_record_is_read_or_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], first: int
) -> None:
    names = [name for name in (*OF_LINES, *WHOLE, ROWS_FILE) if (folder / name).is_file()]
    names = [name for name in names if (folder / name).read_text()]
    assert len(names) > 6
    assert main([str(folder), "--report-only"]) == 0
    there = sorted(tmp_path.rglob("*"))
    for number in range(first, min(first + BLOCK, COUNT)):
        name = names[number % len(names)]
        before = (folder / name).read_text()
        mutate = mutated_line if name in OF_LINES else mutated
        (folder / name).write_text(mutate(before, number))
        _read(folder, f"record {number}, {name}", capsys)
        (folder / name).write_text(before)
    assert sorted(tmp_path.rglob("*")) == there


def _read(folder: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--story", MESSAGE], ["--report-only"]):
        try:
            code = main([str(folder), *words])
        except Exception as error:
            raise AssertionError(f"{what}: {words}") from error
        said = capsys.readouterr().err
        assert code in (0, 4), f"{what}: {words}: {said}"
        assert code == 0 or said, what
    try:
        open_run_folder(folder)
        verdict = whole_run(FolderFiles(folder), ARROW_SCHEMAS).judgement.verdict
        assert verdict.exit_code != CRASHED, f"{what}: {verdict.reasons}"
        sides = open_sides(folder, folder).sides
    except RunFolderError:
        return
    assert compare_verdicts(*sides)
    assert compare_claims(*sides) is not None
    assert count_numbers(*sides) is not None


@pytest.mark.parametrize("first", range(0, COUNT, BLOCK))
def test_so_is_a_mutated_sweep(tmp_path: Path, first: int) -> None:
    (tmp_path / "results").mkdir()
    files = {
        "sweep.json": json.dumps(SWEEP),
        "results/batch=00000.jsonl": json.dumps(RESULT) + "\n",
    }
    for number in range(first, min(first + BLOCK, COUNT)):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        name = list(files)[number % 2]
        mutate = mutated if number % 2 == 0 else mutated_line
        (tmp_path / name).write_text(mutate(files[name], number))
        try:
            conclude(open_sweep(tmp_path))
        except RunFolderError:
            pass
        except Exception as error:
            raise AssertionError(f"sweep {number}") from error
