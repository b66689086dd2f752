"""The results of a sweep's runs, judged as single runs are, and the one verdict made of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from spark_eval.__main__ import main
from spark_eval.judging.judge import Also
from spark_eval.judging.of_record import JudgedRecord, judge
from spark_eval.read.folder.files import FolderFiles, MemoryFiles
from spark_eval.read.folder.run_folder import RunFolderError
from spark_eval.sweep.folder import open_sweep
from spark_eval.sweep.program import conclude
from spark_eval.sweep.result import covered, result_of, told
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, Run, healthy, without_digests
from tests.spark_eval.runs.sweep_builder import judged, write_sweep

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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five seeds in batches of two; tests that write take a copy."""
    folder = write_sweep(tmp_path_factory.mktemp("sweep"), _runs())
    conclude(open_sweep(folder))
    return folder


def _verdict(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / "verdict.json").read_text())
    assert isinstance(content, dict)
    return content


def _results(folder: Path) -> dict[int, dict[str, Any]]:
    sweep = open_sweep(folder)
    batches = (sweep.read_result(batch) for batch in sweep.judged_batches())
    return {result["seed"]: result for results in batches for result in results}


def test_every_seed_has_its_own_verdict(folder: Path) -> None:
    reached = {seed: result["verdict"] for seed, result in _results(folder).items()}
    assert reached == {100: "pass", 101: "fail", 102: "pass", 103: "fail", 104: "unknown"}


def test_a_run_of_a_sweep_is_judged_as_its_folder_would_be(folder: Path, tmp_path: Path) -> None:
    for seed, run in _runs().items():
        run.name, run.plan["seed"] = f"calm-{seed}", seed
        alone = told(run.name, seed, *covered(FolderFiles(run.write(tmp_path))))
        assert _results(folder)[seed] == json.loads(json.dumps(alone))


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
    assert required["SM-18"] == {"asked": 2, "proven": 2, "violated": 0, "unknown": 0}
    assert required["DD-1"]["asked"] == 5
    assert required["SR-4"]["asked"] == 0


def test_coverage_counts_messages_that_met_a_fault_by_phase(folder: Path) -> None:
    # of the kill: told is in Safety Net, delivered waits to be let go, queued is queued
    met = _results(folder)[102]["coverage"]
    assert met == {
        "queued": {"kill": 1}, "awaiting-discard": {"kill": 1}, "in-safety-net": {"kill": 1},
    }  # fmt: skip
    assert _verdict(folder)["coverage"]["queued"] == {"kill": 2}


def test_coverage_tells_kinds_of_cut_and_directions_apart_and_asks_whom_they_concern() -> None:
    near, far, slow = healthy(), healthy(), healthy()
    near.cut("lyo-mbx1", "par-mbx1", 90_000, 100_000, kind="stall")
    far.cut("par-mbx2", "lyo-mbx2", 90_000, 100_000, kind="stall")
    slow.late(
        "lyo-mbx1", "par-mbx1", 90_000, 100_000,
        {"kind": "throttle", "bytes_per_second": 9999, "direction": "replies"},
    )  # fmt: skip
    assert judged(0, near)["coverage"] == {"awaiting-discard": {"cut-stall": 1}}
    assert judged(1, far)["coverage"] == {}
    assert judged(2, slow)["coverage"] == {"awaiting-discard": {"throttle-replies": 1}}


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


def test_a_run_has_the_part_of_each_setting_that_its_plan_drew(tmp_path: Path) -> None:
    long, short = new_database().run, healthy()
    short.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = 30 * MINUTE
    for run, rejects in ((long, True), (short, False)):
        run.plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = rejects
    more = {"settings": SETTINGS, "kinds": ["kill", "stop"]}
    folder = write_sweep(tmp_path, {0: long, 1: short}, more=more)
    conclude(open_sweep(folder))
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


@pytest.mark.parametrize("plan", [{}, {"plan.json": b"{"}])
def test_a_record_without_a_plan_cannot_be_judged_and_is_a_result(
    plan: dict[str, bytes],
) -> None:
    files = {file: text.encode() for file, text in healthy().texts().items()}
    del files["plan.json"]
    result = result_of("calm-1", 1, files | plan)
    assert (result["run"], result["seed"], result["exit_code"]) == ("calm-1", 1, 3)
    (why,) = result["reasons"]
    assert why.startswith("the record could not be judged: ")


def test_a_seed_that_cannot_be_judged_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge_but_one(files: MemoryFiles, also: Also) -> JudgedRecord:
        if b"calm-1" in files.open("manifest.json").read():
            raise RecursionError("too deep\nfor it")
        return judge(files, also=also)

    monkeypatch.setattr("spark_eval.sweep.result.judge", judge_but_one)
    folder = write_sweep(tmp_path, {0: healthy(), 1: healthy()}, per_batch=1)
    assert _results(folder)[1]["reasons"] == [
        "the record could not be judged: RecursionError: too deep"
    ]
    assert main(["--sweep", str(folder)]) == 3
    content = _verdict(folder)
    assert content["verdict"] == "crashed"
    assert content["counts"] == {"crashed": 1, "fail": 0, "unknown": 0, "pass": 1}
    assert content["unknowns"][0]["first_seeds"] == [1]


def test_the_same_results_give_the_same_bytes_wherever_they_lie(
    folder: Path, tmp_path: Path
) -> None:
    moved = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
    (moved / "verdict.json").unlink()
    conclude(open_sweep(moved))
    for name in ("verdict.json", "report.html"):
        assert (moved / name).read_bytes() == (folder / name).read_bytes()


def test_several_sweeps_are_concluded_and_the_worst_code_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write_sweep(tmp_path / "first", {0: _losing()}, per_batch=1)
    second = write_sweep(tmp_path / "second", {0: healthy()}, per_batch=1)
    assert main(["--sweep", str(first), str(second)]) == 1
    said = capsys.readouterr().out
    assert "verdict: pass: calm, 1 of 1 seeds judged" in said
    assert f"report: {second / 'report.html'}" in said
    assert [_verdict(each)["exit_code"] for each in (first, second)] == [1, 0]


def test_a_sweep_of_which_some_seeds_are_not_judged_yet_counts_those_that_are(
    tmp_path: Path,
) -> None:
    code, said = conclude(open_sweep(write_sweep(tmp_path, {0: healthy()}, seeds=4)))
    assert (code, said.splitlines()[0]) == (0, "verdict: pass: calm, 1 of 4 seeds judged")


def test_the_page_opens_offline_and_says_the_verdict_first(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    body = page[page.index("<main>") :]
    assert body.index("FAIL") < body.index("never visible") < body.index("What the faults met")
    assert "shadowlab run calm --on simulator --seed 101" in body
    assert "http" not in page
    assert "<script" not in page


def test_the_program_prints_the_summary_and_exits_with_the_worst(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--sweep", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("verdict: fail: calm, 5 of 5 seeds judged\n  2 fail, 1 unknown, 2 pass")
    assert f"report: {folder / 'report.html'}" in out
    assert err == ""


def test_exits_4_for_a_folder_that_is_no_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--sweep", str(tmp_path)]) == 4
    assert "hint:" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{", "[]", '{"scenario": "calm"}'])
def test_says_what_is_wrong_with_sweep_json(tmp_path: Path, text: str) -> None:
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(RunFolderError, match=r"sweep\.json cannot be read"):
        open_sweep(tmp_path)
