"""A sweep's batches, judged as single runs are, and the one verdict made of them."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_eval.evaluation.evaluation import evaluate
from spark_eval.judging.judge import judge
from spark_eval.read.run_folder import RunFolderError, open_run_folder
from spark_eval.results.files import verdict_content
from spark_eval.sweep import folder as sweep_folder
from spark_eval.sweep import program
from spark_eval.sweep.batch import judge_batch
from spark_eval.sweep.folder import open_sweep
from tests.spark_eval.runs.faulty_runs import back_in_time, new_database
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, Run, healthy, without_digests
from tests.spark_eval.runs.sweep_builder import write_batch, write_sweep

FIRST = 100


def _losing(user_of: int = 0) -> Run:
    """A run in which one message is not in its mailbox, another one for each `user_of`."""
    run = healthy()
    lost = run.mailboxes["DB1"][user_of]["message_id"]
    run.mailboxes["DB1"] = [row for row in run.mailboxes["DB1"] if row["message_id"] != lost]
    return run


def _unproven() -> Run:
    """As long ago, when no ledger said anything of contents."""
    run = without_digests(new_database().run)
    run.faults = [row for row in run.faults if row["phase"] != "evidence"]
    return run


def _runs() -> dict[int, Run]:
    """Seeds from 100 on: pass, fail, pass, the same failure of another message, unknown."""
    made = [healthy(), _losing(), new_database().run, _losing(3), _unproven()]
    return dict(enumerate(made, start=FIRST))


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five seeds in batches of two, judged once; tests that write take a copy."""
    folder = write_sweep(tmp_path_factory.mktemp("sweep"), _runs())
    program.judge_complete(spark, [open_sweep(folder)])
    return folder


def _verdict(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / "verdict.json").read_text())
    assert isinstance(content, dict)
    return content


def _results(folder: Path) -> dict[int, dict[str, Any]]:
    sweep = open_sweep(folder)
    batches = (sweep.read_result(batch) for batch in sweep.complete_batches())
    return {result["seed"]: result for results in batches for result in results}


def test_every_seed_has_its_own_verdict(folder: Path) -> None:
    reached = {seed: result["verdict"] for seed, result in _results(folder).items()}
    assert reached == {100: "pass", 101: "fail", 102: "pass", 103: "fail", 104: "unknown"}


def test_a_run_of_a_sweep_is_judged_as_its_folder_would_be(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    runs = [_losing(), new_database().run]
    for name, run in zip(("calm-101", "calm-102"), runs, strict=True):
        run.name = name
    judged = evaluate(spark, [open_run_folder(run.write(tmp_path)) for run in runs])
    for judgement in judged:
        alone = verdict_content(judgement)
        swept = next(r for r in _results(folder).values() if r["run"] == alone["run"])
        for name in ("verdict", "reasons", "foretold", "not_as_foretold"):
            assert swept[name] == alone[name]
        checked = {n: told for n, told in alone["requirements"].items() if told != "not checked"}
        assert swept["requirements"] == checked
        for theirs, ours in zip(swept["claims"], alone["claims"], strict=True):
            same = ("name", "status", "asked", "violations", "unknown", "reason")
            assert {name: theirs[name] for name in same} == {name: ours[name] for name in same}


def test_a_record_that_says_nothing_of_contents_leaves_them_unknown(folder: Path) -> None:
    found = {
        seed: {claim["name"]: claim["status"] for claim in result["claims"]}["content_intact"]
        for seed, result in _results(folder).items()
    }
    assert found == dict.fromkeys(range(100, 104), "holds") | {104: "unknown"}


def test_a_failed_claim_carries_its_first_counter_example(folder: Path) -> None:
    claim = next(c for c in _results(folder)[101]["claims"] if c["name"] == "no_loss")
    assert claim["status"] == "violated"
    assert claim["example"] == {
        "subject": "<m000001.calm.7@outside.example> to db1-user01@shadowlab.example",
        "at_ms": MINUTE + 900,
        "detail": "acknowledged by par-mbx1, held by lyo-mbx1 and par-mbx1, never visible",
    }


def test_the_verdict_of_a_sweep_is_that_of_its_worst_seed(folder: Path) -> None:
    content = _verdict(folder)
    assert (content["verdict"], content["exit_code"]) == ("fail", 1)
    assert content["counts"] == {"crashed": 0, "fail": 2, "unknown": 1, "pass": 2}
    assert (content["seeds"], content["judged"]) == (5, 5)


def test_failures_of_one_cause_are_one_group(folder: Path) -> None:
    [group] = _verdict(folder)["failures"]
    assert group["claim"] == "no_loss"
    assert group["cause"] == "acknowledged by [server], held by [server], never visible"
    assert (group["seeds"], group["first_seeds"]) == (2, [101, 103])
    assert group["example"]["run"] == "calm-101"
    assert group["replay"] == "shadowlab run calm --on simulator --seed 101"


def test_what_could_not_be_told_is_grouped_too(folder: Path) -> None:
    groups = _verdict(folder)["unknowns"]
    assert {(group["claim"], group["cause"]) for group in groups} == {
        ("", "fault f[n] has no evidence that it took effect"),
        ("content_intact", "the ledger has no digest of what was sent"),
    }
    assert [group["first_seeds"] for group in groups] == [[104], [104]]


def test_requirements_count_the_seeds_that_asked_them(folder: Path) -> None:
    required = _verdict(folder)["requirements"]
    assert required["SM-7"] == {"asked": 2, "proven": 2, "violated": 0, "unknown": 0}
    assert required["DD-1"]["asked"] == 5
    assert required["SR-4"]["asked"] == 0


def test_coverage_counts_messages_that_met_a_fault_by_phase(folder: Path) -> None:
    # of the kill: told is in Safety Net, delivered waits to be let go, queued is queued
    met = _results(folder)[102]["coverage"]
    assert met == {
        "queued": {"kill": 1}, "awaiting-discard": {"kill": 1}, "in-safety-net": {"kill": 1},
    }  # fmt: skip
    assert _verdict(folder)["coverage"]["queued"] == {"kill": 2}


def test_coverage_tells_kinds_of_cut_and_directions_apart_and_asks_whom_they_concern(
    spark: SparkSession, tmp_path: Path
) -> None:
    near, far, slow = healthy(), healthy(), healthy()
    near.cut("lyo-mbx1", "par-mbx1", 90_000, 100_000, kind="stall")
    far.cut("par-mbx2", "lyo-mbx2", 90_000, 100_000, kind="stall")
    slow.late(
        "lyo-mbx1", "par-mbx1", 90_000, 100_000,
        {"kind": "throttle", "bytes_per_second": 9999, "direction": "replies"},
    )  # fmt: skip
    sweep = open_sweep(write_sweep(tmp_path, {0: near, 1: far, 2: slow}, per_batch=3))
    judged = judge_batch(spark, sweep, "batch=00000")
    assert judged[0]["coverage"] == {"awaiting-discard": {"cut-stall": 1}}
    assert judged[1]["coverage"] == {}
    assert judged[2]["coverage"] == {"awaiting-discard": {"throttle-replies": 1}}


SETTINGS = {
    "TransportConfig.SafetyNetHoldTime": {
        "path": "$.settings.TransportConfig.SafetyNetHoldTime",
        "parts": [
            {"name": "1m..1h", "low": MINUTE, "high": HOUR},
            {"name": "48h", "low": 48 * HOUR, "high": 48 * HOUR},
        ],
    },
    "TransportConfig.RejectMessageOnShadowFailure": {
        "path": "$.settings.TransportConfig.RejectMessageOnShadowFailure",
        "parts": [
            {"name": "true", "low": "true", "high": "true"},
            {"name": "false", "low": "false", "high": "false"},
        ],
    },
}


def test_a_run_has_the_part_of_each_setting_that_its_plan_drew(
    spark: SparkSession, tmp_path: Path
) -> None:
    long, short = new_database().run, healthy()
    short.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = 30 * MINUTE
    for run, rejects in ((long, True), (short, False)):
        run.plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = rejects
    more = {"settings": SETTINGS, "kinds": ["kill", "stop"]}
    folder = write_sweep(tmp_path, {0: long, 1: short}, more=more)
    program.judge_complete(spark, [open_sweep(folder)])
    hold, rejection = SETTINGS
    results = _results(folder)
    assert results[0]["settings"] == {hold: "48h", rejection: "true"}
    assert results[1]["settings"] == {hold: "1m..1h", rejection: "false"}
    met = _verdict(folder)["combinations"]
    assert met["drawn"][hold] == {"1m..1h": 1, "48h": 1}
    assert met["pairs"]["queued"] == {"kill": 2, "stop": 0}
    assert met["never_met"]["queued"] == {"kill": {hold: ["1m..1h"], rejection: ["false"]}}
    page = (folder / "report.html").read_text()
    assert "queued with stop" in page
    assert "1m..1h" in page


def test_a_judged_batch_is_not_judged_again(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    again = Path(shutil.copytree(folder, tmp_path / "again"))
    before = (again / "verdict.json").read_bytes()
    for parquet in (again / "record" / "batch=00000").glob("*.parquet"):
        parquet.unlink()
    program.judge_complete(spark, [open_sweep(again)])
    assert (again / "verdict.json").read_bytes() == before


def test_what_is_judged_counts_after_its_record_is_gone(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    again = Path(shutil.copytree(folder, tmp_path / "again"))
    before = (again / "verdict.json").read_bytes()
    shutil.rmtree(again / "record")
    told = io.StringIO("batch=00001\n")
    assert program.judge_as_told(spark, [open_sweep(again)], told) == 1
    assert (again / "verdict.json").read_bytes() == before


def test_runs_of_one_seed_are_told_apart_by_their_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = write_sweep(tmp_path, {7: healthy()}, seeds=0, per_batch=1)
    write_batch(folder, 1, {7: _losing()}, named="t0")
    write_batch(folder, 1, {7: healthy()}, named="t1")
    judged = judge_batch(spark, open_sweep(folder), "batch=00001")
    assert [(r["run"], r["seed"], r["verdict"]) for r in judged] == [
        ("t0", 7, "fail"), ("t1", 7, "pass"),
    ]  # fmt: skip


@pytest.mark.parametrize(("large", "adaptive"), [(0, "true"), (2**30, "false")])
def test_a_batch_of_large_runs_is_planned_as_a_large_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int, adaptive: str
) -> None:
    key, planned = "spark.sql.adaptive.enabled", list[str | None]()

    def judged(*words: Any) -> Any:
        planned.append(spark.conf.get(key, None))
        return judge(*words)

    monkeypatch.setattr("spark_eval.sweep.batch.judge", judged)
    monkeypatch.setattr(sweep_folder, "LARGE_BYTES", large)
    folder = write_sweep(tmp_path, {0: healthy(), 1: _losing()}, per_batch=2)
    results = judge_batch(spark, open_sweep(folder), "batch=00000")
    assert [result["verdict"] for result in results] == ["pass", "fail"]
    assert planned == [adaptive]


def test_a_batch_without_success_is_left_for_later(spark: SparkSession, tmp_path: Path) -> None:
    folder = write_sweep(tmp_path, {0: healthy(), 1: healthy()}, per_batch=1)
    (folder / "record" / "batch=00001" / "_SUCCESS").unlink()
    assert program.judge_complete(spark, [open_sweep(folder)]) == 0
    assert (_verdict(folder)["seeds"], _verdict(folder)["judged"]) == (2, 1)
    assert not (folder / "results" / "batch=00001.jsonl").exists()


def test_a_seed_without_a_record_is_a_failure_of_the_lab(
    spark: SparkSession, tmp_path: Path
) -> None:
    damaged = healthy()
    damaged.drop.add("plan.json")
    folder = write_sweep(tmp_path, {0: healthy(), 1: damaged}, per_batch=3, seeds=3)
    assert program.judge_complete(spark, [open_sweep(folder)]) == 3
    content = _verdict(folder)
    assert content["verdict"] == "crashed"
    assert content["counts"] == {"crashed": 2, "fail": 0, "unknown": 0, "pass": 1}
    assert content["unknowns"][0]["first_seeds"] == [1, 2]


def test_a_batch_without_any_record_is_judged_all_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = write_sweep(tmp_path, {0: healthy()}, per_batch=1, seeds=2)
    write_batch(folder, 1, {})
    judged = judge_batch(spark, open_sweep(folder), "batch=00001")
    assert [(result["seed"], result["exit_code"]) for result in judged] == [(1, 3)]


def test_batches_are_judged_as_they_are_told(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_sweep(tmp_path, {0: healthy(), 1: _losing()}, per_batch=1, seeds=3)
    told = io.StringIO("batch=00001\nbatch=00000\nbatch=00002\nend\nbatch=00009\n")
    assert program.judge_as_told(spark, [open_sweep(folder)], told) == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()[:3]]
    assert [line["batch"] for line in lines] == ["batch=00001", "batch=00000", "batch=00002"]
    assert [line.get("verdicts") for line in lines] == [{"fail": 1}, {"pass": 1}, None]
    assert (lines[0]["runs"], lines[0]["seconds"] > 0) == (1, True)
    assert "no complete batch" in lines[2]["error"]
    assert _verdict(folder)["counts"]["fail"] == 1


def test_sweeps_are_judged_one_after_another_as_they_are_told(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write_sweep(tmp_path / "first", {0: _losing()}, per_batch=1)
    second = write_sweep(tmp_path / "second", {0: healthy()}, per_batch=1)
    told = io.StringIO("batch=00000\nend\nbatch=00000\nend\n")
    assert program.judge_as_told(spark, map(open_sweep, (first, second)), told) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.get("verdicts") for line in lines] == [{"fail": 1}, None, {"pass": 1}, None]
    assert [line.get("exit_code") for line in lines] == [None, 1, None, 0]
    assert lines[3]["said"].startswith("verdict: pass: calm, 1 of 1 seeds judged")
    assert f"report: {second / 'report.html'}" in lines[3]["said"]
    assert [_verdict(each)["exit_code"] for each in (first, second)] == [1, 0]


def test_what_a_batch_kept_in_memory_is_let_go(spark: SparkSession, tmp_path: Path) -> None:
    sweep = open_sweep(write_sweep(tmp_path, {0: healthy()}))
    before = set(spark.sparkContext._jsc.getPersistentRDDs().keySet())
    judge_batch(spark, sweep, "batch=00000")
    assert set(spark.sparkContext._jsc.getPersistentRDDs().keySet()) <= before


def test_the_same_record_gives_the_same_bytes_wherever_it_lies(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    moved = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
    (moved / "results" / "batch=00000.jsonl").unlink()
    program.judge_complete(spark, [open_sweep(moved)])
    for name in ("verdict.json", "report.html", "results/batch=00000.jsonl"):
        assert (moved / name).read_bytes() == (folder / name).read_bytes()


def test_the_page_opens_offline_and_says_the_verdict_first(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    body = page[page.index("<main>") :]
    assert body.index("FAIL") < body.index("never visible") < body.index("What the faults met")
    assert "shadowlab run calm --on simulator --seed 101" in body
    assert "http" not in page
    assert "<script" not in page


def test_the_program_prints_the_summary_and_exits_with_the_worst(
    run_main: Callable[..., int], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main("--sweep", folder) == 1
    out, err = capsys.readouterr()
    assert out.startswith("verdict: fail: calm, 5 of 5 seeds judged\n  2 fail, 1 unknown, 2 pass")
    assert f"report: {folder / 'report.html'}" in out
    assert "batch=00002: 3 of 3: 1 unknown" in err


def test_exits_4_for_a_folder_that_is_no_sweep(
    run_main: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main("--sweep", tmp_path) == 4
    assert "hint:" in capsys.readouterr().err


def test_seeds_that_were_chosen_are_the_batchs(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path, {7: healthy()}, per_batch=2, seeds=2)
    assert list(open_sweep(folder).seeds_of("batch=00000")) == [7, 8]
    (folder / "seeds").mkdir()
    (folder / "seeds" / "batch=00000.json").write_text("[9, 15]")
    assert open_sweep(folder).seeds_of("batch=00000") == [9, 15]


@pytest.mark.parametrize("text", ["{", "[]", '{"scenario": "calm"}'])
def test_says_what_is_wrong_with_sweep_json(tmp_path: Path, text: str) -> None:
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(RunFolderError, match=r"sweep\.json cannot be read"):
        open_sweep(tmp_path)


def test_a_batch_must_be_complete_to_be_judged(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path, {0: back_in_time().run})
    (write_batch(folder, 7, {14: healthy()}) / "_SUCCESS").unlink()
    with pytest.raises(RunFolderError, match="no complete batch"):
        open_sweep(folder).record("batch=00007")
