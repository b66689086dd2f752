"""The whole program over whole folders: verdicts, exit codes, and every file that it leaves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from spark_eval.cases.case import Case
from spark_eval.claims.catalogue import ALL
from spark_eval.claims.claim import Claim
from spark_eval.evaluation.evaluation import evaluate
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run as History
from spark_eval.judging.judged import JudgedRun
from spark_eval.read.folder.run_folder import open_run_folder
from spark_eval.report import build as pages
from spark_eval.report.page import page_again
from spark_eval.results import schema as result_schema
from spark_eval.results.summary import summary
from tests.spark_eval.runs.failover_runs import MOUNTED, lossy
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.run_builder import Run, healthy

SHAPE = {
    "version", "run", "scenario", "host", "seed", "verdict", "claims", "delivery", "promotion",
    "safety_net", "exposure", "requirements",
}  # fmt: skip


UNANSWERED = {"took_effect": False, "reason": "am1 did not answer"}


def _failing() -> Run:
    run = new_database().run
    run.plan["proves"] = ["SM-7"]
    run.mailboxes["DB1"].pop()
    run.tail["logs/lyo-mbx2/lifecycle.jsonl"] = '{"event": "sto'
    return run


@pytest.fixture(scope="module")
def judged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, JudgedRun]:
    """Three runs judged in one go, as a night would be; two of them at a time."""
    root = tmp_path_factory.mktemp("program")
    runs = {"calm": healthy(), "promoted": new_database().run, "failing": _failing()}
    folders = []
    for name, run in runs.items():
        run.name = name
        folders.append(open_run_folder(run.write(root)))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("spark_eval.spread.by_run.AT_ONCE_A_CORE", 1)
        return {run.folder.run: run for run in evaluate(spark, folders)}


@pytest.fixture(scope="module")
def failed_over(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> JudgedRun:
    """A failover on request, of which nothing says that it was decided."""
    run = lossy().run
    run.name = "failed-over"
    run.plan["operations"] = [
        {"id": "o1", "kind": "failover", "at_ms": MOUNTED, "database": "DB1", "to": "lyo-mbx1"}
    ]
    for phase, more in (("intended", {}), ("applied", {}), ("evidence", UNANSWERED)):
        row = {"operation": "o1", "phase": phase, "at_ms": MOUNTED - 1000, "mono_ns": 1}
        run.operations.append({**row, **more})
    folder = run.write(tmp_path_factory.mktemp("failed-over"))
    [judged] = evaluate(spark, [open_run_folder(folder)])
    return judged


def test_verdict_json_counts_what_came_back(failed_over: JudgedRun) -> None:
    assert _verdict_json(failed_over)["safety_net"] == {
        "requests": 4, "expected": 2, "resubmitted": 2, "missing": 0, "outside": 0,
        "from_primary": 2, "from_shadow": 0, "at_risk": [],
    }  # fmt: skip


def test_an_operation_without_evidence_makes_the_verdict_unknown(failed_over: JudgedRun) -> None:
    assert failed_over.verdict.verdict == "unknown"
    [reason] = failed_over.verdict.reasons
    assert reason == "operation o1 did not take effect: am1 did not answer"


def test_the_report_tells_of_operations_and_failovers(failed_over: JudgedRun) -> None:
    page = (failed_over.folder.path / "report.html").read_text()
    assert "par-mbx2 → lyo-mbx1" in page
    assert "failover of DB1 to lyo-mbx1" in page


def test_a_failover_is_a_row_with_what_was_lost_and_came_back(
    spark: SparkSession, failed_over: JudgedRun
) -> None:
    rows = spark.read.parquet(str(failed_over.folder.evaluation / "transitions.parquet")).collect()
    [row] = [row.asDict() for row in rows]
    assert (row["from"], row["to"], row["mounted_ms"]) == ("par-mbx2", "lyo-mbx1", MOUNTED)
    assert (row["lossless"], row["lost_deliveries"], row["resubmitted"]) == (False, 2, 2)


def _verdict_json(run: JudgedRun) -> dict[str, Any]:
    content = json.loads((run.folder.path / "verdict.json").read_text())
    assert isinstance(content, dict)
    return content


def test_reaches_each_run_its_own_verdict(judged: dict[str, JudgedRun]) -> None:
    reached = {name: run.verdict.verdict for name, run in judged.items()}
    assert reached == {"calm": "pass", "promoted": "pass", "failing": "fail"}


def test_a_page_is_no_larger_whatever_the_run_was(
    judged: dict[str, JudgedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    for bound in ("MOST_MESSAGES", "MOST_UNDELIVERED", "MOST_POINTS", "MOST_FAULTS"):
        monkeypatch.setattr(pages, bound, 2)
    folder = judged["promoted"].folder.evaluation
    tables = {path.stem: parquet.read_table(path).to_pylist() for path in folder.glob("*.parquet")}
    assert len(pages.build(tables, 3_600_000).messages) == 2


def test_verdict_json_has_the_shape_of_the_contract(judged: dict[str, JudgedRun]) -> None:
    content = _verdict_json(judged["promoted"])
    assert set(content) >= SHAPE
    assert [claim["name"] for claim in content["claims"]] == [c.name for c in ALL]
    assert content["delivery"] == {
        "expected": 3, "delivered": 3, "lost": 0, "excused": 0, "visible_duplicates": 0,
        "promised_duplicates": 0, "single_copies": 0,
        "suppressed_duplicates": 1, "rejected": 0, "in_doubt": 0,
    }  # fmt: skip
    assert content["promotion"] == {
        "expected": 2, "observed": 2, "missing": 0, "spurious": 0, "early": 0, "late": 0,
        "delay_seconds": {"min": 57.2, "median": 57.2, "max": 57.2},
    }  # fmt: skip
    assert content["requirements"]["SM-7"] == "proven"


def test_verdict_json_says_for_how_long_messages_were_exposed(
    judged: dict[str, JudgedRun],
) -> None:
    exposure = _verdict_json(judged["calm"])["exposure"]
    assert (exposure["messages"], exposure["watched"] > 0) == (0, True)


def test_verdict_json_counts_nothing_of_safety_nets_that_nobody_asked(
    judged: dict[str, JudgedRun],
) -> None:
    assert not any(_verdict_json(judged["calm"])["safety_net"].values())
    assert not (judged["calm"].folder.evaluation / "transitions.parquet").exists()


def test_verdict_json_has_counter_examples_down_to_log_lines(
    judged: dict[str, JudgedRun],
) -> None:
    content = _verdict_json(judged["failing"])
    [example] = next(c for c in content["claims"] if c["name"] == "no_loss")["examples"]
    assert example["which"] == "first"
    assert example["refs"][0] == {"file": "ledger.jsonl", "line": 9}
    assert content["log_damage"][0]["file"] == "logs/lyo-mbx2/lifecycle.jsonl"


def test_junit_has_a_testcase_for_each_claim(judged: dict[str, JudgedRun]) -> None:
    suite = ET.parse(judged["failing"].folder.path / "junit.xml").getroot()[0]
    by_name = {case.get("name"): case for case in suite.iter("testcase")}
    assert list(by_name) == [claim.name for claim in ALL]
    failure = by_name["no_loss"].find("failure")
    assert failure is not None
    assert "ledger.jsonl:9" in (failure.text or "")
    assert (suite.get("tests"), suite.get("failures")) == (str(len(ALL)), "1")


def test_junit_skips_claims_that_do_not_apply_under_their_own_word(
    judged: dict[str, JudgedRun],
) -> None:
    suite = ET.parse(judged["calm"].folder.path / "junit.xml").getroot()[0]
    skipped = suite.find("testcase[@name='promotion_on_time']/skipped")
    assert skipped is not None
    assert skipped.get("message") == "not applicable: nothing was asked"


def test_leaves_every_table_as_parquet_of_its_row_type(
    spark: SparkSession, judged: dict[str, JudgedRun], failed_over: JudgedRun
) -> None:
    for name, columns in result_schema.RESULT_TABLES.items():
        run = failed_over if name in result_schema.OF_SAFETY_NETS else judged["promoted"]
        table = spark.read.parquet(str(run.folder.evaluation / f"{name}.parquet"))
        assert table.columns == [column for column, _ in columns]
        assert table.where(f"run <> '{run.folder.run}'").count() == 0


def test_tables_hold_what_happened(spark: SparkSession, judged: dict[str, JudgedRun]) -> None:
    folder = judged["promoted"].folder.evaluation
    counts = {
        name: spark.read.parquet(str(folder / f"{name}.parquet")).count()
        for name in ("messages", "attempts", "deliveries", "shadows", "promotions", "delays")
    }
    assert counts == {
        "messages": 3, "attempts": 3, "deliveries": 3, "shadows": 5, "promotions": 2, "delays": 3,
    }  # fmt: skip


def test_the_summary_says_the_verdict_first_then_a_line_a_claim(
    judged: dict[str, JudgedRun],
) -> None:
    lines = summary(judged["failing"]).splitlines()
    assert lines[0].startswith("verdict: fail (its file expects pass)")
    for claim in ALL:
        assert sum(line.startswith(f"  {claim.name} ") for line in lines) == 1
    assert any("damage: logs/lyo-mbx2/lifecycle.jsonl" in line for line in lines)
    delivery = lines.index("  deliveries: 3 expected, 2 delivered, 1 lost, 0 excused")
    assert lines[delivery + 1].startswith("      1 lost: ")


def test_the_summary_speaks_of_the_run_and_not_of_what_no_run_asks_yet(
    judged: dict[str, JudgedRun],
) -> None:
    for run in judged.values():
        assert {"not asked", "not checked"} <= {*run.verdict.requirements.values()}
        asides = ("  not asked:", "  checked by no claim")
        assert not [line for line in summary(run).splitlines() if line.startswith(asides)]


def test_what_does_not_apply_is_one_line_of_the_summary_and_of_the_report(
    judged: dict[str, JudgedRun],
) -> None:
    run = judged["calm"]
    aside = [name for name, each in run.results.items() if each.status == "not applicable"]
    assert "promotion_on_time" in aside
    assert f"  not applicable: {', '.join(aside)}" in summary(run).splitlines()
    assert not any(line.startswith("  promotion_on_time") for line in summary(run).splitlines())
    told = {claim["name"]: claim["status"] for claim in _verdict_json(run)["claims"]}
    assert [name for name, status in told.items() if status == "not applicable"] == aside
    page = (run.folder.path / "report.html").read_text()
    assert '<tr id="claim-promotion_on_time"' not in page
    quiet = page[page.index('<p class="quiet">Not applicable') :]
    assert '<code id="claim-promotion_on_time"' in quiet[: quiet.index("</p>")]


def test_nothing_of_a_manifest_acts_on_the_terminal(judged: dict[str, JudgedRun]) -> None:
    run = judged["calm"]
    folder = replace(run.folder, scenario="calm\x1b[31m", seed="7\nverdict: pass")
    text = summary(replace(run, folder=folder))
    assert text.replace("\n", "").isprintable()
    assert text.splitlines()[0].endswith("calm\\x1b[31m, seed 7\\nverdict: pass")


def test_the_report_opens_offline_and_says_the_verdict_first(
    judged: dict[str, JudgedRun],
) -> None:
    page = (judged["failing"].folder.path / "report.html").read_text()
    body = page[page.index("<main>") :]
    assert body.index("FAIL") < body.index('id="chart-timeline"') < body.index("Claims")
    assert "http" not in page
    assert "<link" not in page
    assert len(page) < 300_000


def test_the_report_can_be_made_again_from_what_was_left(judged: dict[str, JudgedRun]) -> None:
    folder = judged["promoted"].folder
    before = (folder.path / "report.html").read_text()
    (folder.path / "report.html").unlink()
    page_again(folder)
    assert (folder.path / "report.html").read_text() == before


LEFT = ("verdict.json", "junit.xml", "report.html")


def test_the_same_record_gives_the_same_bytes_under_any_name(
    spark: SparkSession, judged: dict[str, JudgedRun], tmp_path: Path
) -> None:
    folder = judged["failing"].folder.path
    moved = Path(shutil.copytree(folder, tmp_path / "of another" / "{name}+1"))
    for name in LEFT:
        (moved / name).unlink()
    shutil.rmtree(moved / "evaluation")
    evaluate(spark, [open_run_folder(moved)])
    for name in LEFT:
        assert (moved / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize("table", ["timeline_events", "claims", "stories"])
def test_no_verdict_is_left_where_a_table_could_not_be_written(
    spark: SparkSession, tmp_path: Path, table: str
) -> None:
    folder = healthy().write(tmp_path)
    (folder / "evaluation").mkdir()
    (folder / "evaluation" / f"{table}.parquet").write_text("no folder")
    with pytest.raises(OSError, match=f"{table}.parquet"):
        evaluate(spark, [open_run_folder(folder)])
    assert not any((folder / name).exists() for name in ("verdict.json", "junit.xml"))


def test_links_in_a_run_folder_are_replaced_and_not_followed(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder, other = healthy().write(tmp_path), tmp_path / "other"
    other.write_text("kept")
    for name in LEFT:
        (folder / name).symlink_to(other)
    evaluate(spark, [open_run_folder(folder)])
    assert other.read_text() == "kept"
    assert not any((folder / name).is_symlink() for name in LEFT)


def test_two_copies_of_one_run_are_refused_and_nothing_is_written(
    run_main: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (healthy().write(tmp_path / name) for name in ("one", "other"))
    assert run_main(one, other) == 4
    said = capsys.readouterr().err.splitlines()
    assert said == [
        f"error: run folder {other}: {Run(plan={}).name} is given twice, as {one}",
        "hint: judge each copy of a run by a call of its own",
    ]
    assert run_main(one, one) == 4
    assert not (one / "verdict.json").exists()
    assert not (other / "verdict.json").exists()


def test_the_page_of_a_simulated_run_says_so_and_nothing_of_this_machine(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = healthy()
    run.ran_on = "simulator"
    run.host["versions"] = {"python": "3.11.7"}
    folder = run.write(tmp_path)
    evaluate(spark, [open_run_folder(folder)])
    page = (folder / "report.html").read_text()
    head = page[page.index("<main>") : page.index("<h1>")]
    assert "simulated" in head
    assert "simulated" in page[: page.index("</title>")]
    assert "3.11.7" not in page
    assert "lab seconds a second" not in page


def _crashing(_message: Message, _run: History) -> Iterator[Case]:
    raise RuntimeError("out of luck")


def test_a_crash_of_a_check_leaves_the_other_claims_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    checks = [Claim("no_phantom", (), of_message=_crashing), ALL[0]]
    [run] = evaluate(spark, [open_run_folder(healthy().write(tmp_path))], checks)
    assert (run.verdict.verdict, run.verdict.exit_code) == ("unknown", 3)
    assert run.results["no_phantom"].reason == "the check crashed: RuntimeError: out of luck"
    assert run.results["no_loss"].status == "holds"
    suite = ET.parse(run.folder.path / "junit.xml").getroot()[0]
    assert suite.find("testcase[@name='no_phantom']/error") is not None


def test_exits_with_the_verdicts_code_and_names_the_report(
    run_main: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = healthy().write(tmp_path)
    assert run_main(folder) == 0
    assert f"report: {folder / 'report.html'}" in capsys.readouterr().out


def test_exits_2_where_a_fault_has_no_evidence(
    run_main: Callable[..., int], tmp_path: Path
) -> None:
    run = new_database().run
    run.faults = [row for row in run.faults if row["phase"] != "evidence"]
    assert run_main(run.write(tmp_path)) == 2


def test_exits_4_for_a_path_that_is_no_run(
    run_main: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(tmp_path / "nowhere") == 4
    assert "hint:" in capsys.readouterr().err


def test_exits_4_for_a_plan_that_cannot_be_read(
    run_main: Callable[..., int], tmp_path: Path
) -> None:
    (tmp_path / "plan.json").write_text("{")
    assert run_main(tmp_path) == 4


def test_exits_4_for_a_wrong_call(run_main: Callable[..., int]) -> None:
    with pytest.raises(SystemExit) as ended:
        run_main("--nonsense")
    assert ended.value.code == 4
