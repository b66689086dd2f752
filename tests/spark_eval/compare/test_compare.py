"""Two runs of one plan: the same fate, a difference that timing leaves open, or a disagreement."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_eval.compare import __main__ as program
from spark_eval.compare.comparison import (
    Compared,
    Comparison,
    Difference,
    compare,
    compare_claims,
    compare_verdicts,
    reach,
)
from spark_eval.compare.page import lines, page
from spark_eval.compare.side import Side, differences, open_sides
from spark_eval.read.folder.run_folder import RunFolder, RunFolderError
from tests.spark_eval.runs.compared_runs import PARTINGS, Parting, runs
from tests.spark_eval.runs.evaluated import evaluated
from tests.spark_eval.runs.run_builder import healthy

HEALTHY_BEFORE = 3


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Evaluated run folders: two that part, and a healthy one twice."""
    root = tmp_path_factory.mktemp("compare")
    one, another = runs()
    calm, again = healthy(), healthy()
    calm.name, again.name = "calm", "again"
    made = {run.name: run.write(root) for run in (one, another, calm, again)}
    for folder in made.values():
        evaluated(folder)
    return made


@pytest.fixture(scope="module")
def found(spark: SparkSession, folders: dict[str, Path]) -> Comparison:
    return compare(spark, open_sides(folders["one-run"], folders["another-run"]).sides)


def message_id(parting: Parting) -> str:
    number = HEALTHY_BEFORE + 1 + PARTINGS.index(parting)
    return f"<m{number:06d}.calm.7@outside.example>"


def of(found: Comparison, parting: Parting) -> dict[str, Difference]:
    mine = [each for each in found.differences if each.message_id == message_id(parting)]
    return {each.field: each for each in mine}


@pytest.mark.parametrize("parting", PARTINGS, ids=lambda parting: str(parting.name))
def test_each_message_is_the_same_or_left_open_or_disagrees(
    found: Comparison, parting: Parting
) -> None:
    parted = of(found, parting)
    if parting.status == "same":
        assert parted == {}
        return
    told = parted[parting.field]
    assert (told.status, told.rule) == (parting.status, parting.rule)


def test_a_difference_says_both_fates_and_what_was_near(found: Comparison) -> None:
    (parting,) = (each for each in PARTINGS if each.name == "refused-near")
    told = of(found, parting)["sending"]
    assert (told.a, told.b, told.submitted_ms) == ("acknowledged", "rejected", parting.at)
    assert told.why == (
        "one-run: attempt 1 to par-mbx1 lasted from 0:09:59.000 to 0:09:59.900, "
        "and f1 began at 0:10:00.000"
    )


def test_a_message_that_one_run_did_not_send_disagrees(found: Comparison) -> None:
    last = f"<m{HEALTHY_BEFORE + 1 + len(PARTINGS):06d}.calm.7@outside.example>"
    told = {each.field: each for each in found.differences if each.message_id == last}
    assert (told["sending"].a, told["sending"].b) == ("acknowledged", "not sent")
    assert {each.status for each in told.values()} == {"disagrees"}


def test_messages_are_counted_by_their_worst_field(found: Comparison) -> None:
    expected = {"same": HEALTHY_BEFORE, "open": 0, "unknown": 0, "disagrees": len(["not sent"])}
    for parting in PARTINGS:
        expected[parting.status] += 1
    assert found.messages == expected


def test_what_disagrees_comes_first(found: Comparison) -> None:
    statuses = [each.status for each in found.differences]
    order = ["disagrees", "unknown", "open"]
    assert statuses == sorted(statuses, key=order.index)


def test_near_is_no_finer_than_the_clock_can_tell(found: Comparison) -> None:
    assert found.margin_ms == 5 * 900


def test_one_message_that_disagrees_is_enough(found: Comparison) -> None:
    assert (found.outcome, found.exit_code) == ("disagrees", 1)


def test_a_run_agrees_with_itself_again(spark: SparkSession, folders: dict[str, Path]) -> None:
    same = compare(spark, open_sides(folders["calm"], folders["again"]).sides)
    assert (same.outcome, same.exit_code) == ("agrees", 0)
    assert same.messages == {"same": 5, "open": 0, "unknown": 0, "disagrees": 0}


def side(verdict: str, *claims: tuple[str, int], name: str = "one") -> Side:
    """A side with claims of (status, asked), named c0, c1 …"""
    told = [{"name": f"c{n}", "status": s, "asked": asked} for n, (s, asked) in enumerate(claims)]
    folder = RunFolder(Path("/runs") / name, name, "calm", 7, "containers", 0)
    return Side(name, folder, {"verdict": verdict, "claims": told}, {}, 900.0)


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [
        ("pass", "pass", "same"),
        ("fail", "fail", "same"),
        ("pass", "fail", "disagrees"),
        ("pass", "unknown", "unknown"),
        ("unknown", "unknown", "unknown"),
    ],
)
def test_verdicts_are_the_same_or_not_or_cannot_be_told(a: str, b: str, status: str) -> None:
    assert compare_verdicts(side(a), side(b)).status == status


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [
        (("holds", 3), ("holds", 5), "same"),
        (("unknown", 0), ("unknown", 4), "same"),
        (("holds", 3), ("violated", 3), "disagrees"),
        (("unknown", 0), ("holds", 3), "open"),
        (("not applicable", 0), ("not applicable", 0), "same"),
        (("not applicable", 0), ("holds", 3), "open"),
        (("not applicable", 0), ("unknown", 3), "open"),
        (("violated", 3), ("not applicable", 0), "unknown"),
        (("holds", 3), ("unknown", 2), "unknown"),
        (("violated", 3), ("unknown", 0), "unknown"),
    ],
)
def test_claims_are_set_side_by_side(a: tuple[str, int], b: tuple[str, int], status: str) -> None:
    (told,) = compare_claims(side("pass", a), side("pass", b))
    assert told.status == status


def test_a_claim_that_one_side_did_not_check_cannot_be_told() -> None:
    (told,) = compare_claims(side("pass"), side("pass", ("holds", 1)))
    assert (told.a, told.b, told.status) == ("not checked", "holds", "unknown")


def test_a_disagreement_outweighs_what_cannot_be_told() -> None:
    unknown, disagrees = (Compared("x", "a", "b", status) for status in ("unknown", "disagrees"))
    assert reach([unknown, disagrees], {}) == "disagrees"
    assert reach([unknown], {"same": 4, "open": 1}) == "unknown"
    assert reach([], {"same": 4, "open": 1, "unknown": 0, "disagrees": 0}) == "agrees"
    assert reach([], {"same": 4, "unknown": 1, "disagrees": 0}) == "unknown"


@pytest.mark.parametrize(
    ("ours", "theirs", "parted"),
    [
        ({"clock": {"speed": 60}}, {"clock": {"speed": 1}}, []),
        ({"seed_from": "argument"}, {"seed_from": "scenario"}, []),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, [("a.1.b", "2", "3")]),
        ({"a": [1]}, {"a": [1, 2]}, [("a.1", "nothing", "2")]),
        ({"a": 1}, {"b": 1}, [("a", "1", "nothing"), ("b", "nothing", "1")]),
        ({"a": "x" * 99}, {"a": "y"}, [("a", "x" * 57 + "...", "y")]),
    ],
)
def test_plans_part_at_places(ours: Any, theirs: Any, parted: list[tuple[str, str, str]]) -> None:
    assert list(differences(ours, theirs)) == parted


def test_different_plans_are_refused_with_the_first_difference(tmp_path: Path) -> None:
    one, other = healthy(), healthy()
    one.name, other.name = "one", "other"
    other.plan["seed"] = 8
    with pytest.raises(RunFolderError) as refused:
        open_sides(one.write(tmp_path), other.write(tmp_path))
    assert "seed: 7 in " in refused.value.cause
    assert "8 in " in refused.value.cause


def test_a_run_that_was_not_evaluated_is_refused(tmp_path: Path) -> None:
    folder = healthy().write(tmp_path)
    with pytest.raises(RunFolderError, match="never evaluated"):
        open_sides(folder, folder)


@pytest.mark.parametrize(
    ("hosts", "names"),
    [
        (("containers", "simulator"), ("containers", "simulator")),
        (("simulator", "simulator"), ("calm", "again")),
        ((None, "simulator"), ("calm", "again")),
    ],
)
def test_sides_are_told_apart_by_host_or_by_folder(
    folders: dict[str, Path], tmp_path: Path, hosts: tuple[str, str], names: tuple[str, str]
) -> None:
    copies = []
    for folder, host in zip(("calm", "again"), hosts, strict=True):
        copy = tmp_path / folder
        shutil.copytree(folders[folder], copy)
        manifest = json.loads((copy / "manifest.json").read_text())
        (copy / "manifest.json").write_text(json.dumps({**manifest, "host": host}))
        copies.append(copy)
    assert tuple(side.name for side in open_sides(copies[0], copies[1]).sides) == names


@pytest.fixture
def run_comparison(spark: SparkSession) -> Callable[..., int]:
    """The program in this process, on the session of the tests."""
    return lambda *arguments: program.main([str(argument) for argument in arguments])


def test_the_program_leaves_its_report_below_the_second_evaluation(
    run_comparison: Callable[..., int], folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_comparison(folders["one-run"], folders["another-run"]) == 1
    out = folders["another-run"] / "evaluation" / "compare"
    told = capsys.readouterr().out
    assert told.startswith("compare: calm, seed 7: disagrees\n")
    assert told.endswith(f"report: {out / 'compare.html'}\n")
    content = json.loads((out / "compare.json").read_text())
    assert content["outcome"] == "disagrees"
    assert [run["name"] for run in content["runs"]] == ["one-run", "another-run"]
    assert (out / "compare.html").read_text().startswith("<!doctype html>")


def test_a_flipped_claim_is_a_disagreement(
    run_comparison: Callable[..., int], folders: dict[str, Path], tmp_path: Path
) -> None:
    flipped = tmp_path / "flipped"
    shutil.copytree(folders["again"], flipped)
    verdict = json.loads((flipped / "verdict.json").read_text())
    verdict["claims"][0]["status"] = "violated"
    (flipped / "verdict.json").write_text(json.dumps(verdict))
    assert run_comparison(folders["calm"], flipped, "--out", tmp_path / "out") == 1
    assert (tmp_path / "out" / "compare.json").is_file()
    assert not (flipped / "evaluation" / "compare").exists()


@pytest.mark.parametrize("words", [["--nonsense"], ["one"]])
def test_a_wrong_call_exits_4(run_comparison: Callable[..., int], words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run_comparison(*words)
    assert ended.value.code == 4


def test_different_plans_exit_4_and_an_unreadable_one_3(
    run_comparison: Callable[..., int],
    folders: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_comparison(folders["calm"], folders["one-run"]) == 4
    assert "different plans: faults.0: nothing in " in capsys.readouterr().err
    (tmp_path / "plan.json").write_text("{")
    assert run_comparison(folders["calm"], tmp_path) == 4


def test_a_table_that_is_gone_exits_3(
    run_comparison: Callable[..., int], folders: dict[str, Path], tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folders["again"], broken)
    shutil.rmtree(broken / "evaluation" / "deliveries.parquet")
    assert run_comparison(folders["calm"], broken) == 3


def test_the_table_names_every_claim_and_the_first_differences(found: Comparison) -> None:
    told = list(lines(found))
    assert any(line.split()[:3] == ["no_loss", "violated", "violated"] for line in told)
    assert "  messages: 6 same, 8 open, 1 unknown, 10 disagrees" in told
    more = len(found.differences) - 20
    assert told[-1] == f"    and {more} more in compare.json"


def test_the_page_shows_what_the_table_shows_and_escapes_it(found: Comparison) -> None:
    html = page(found)
    assert "<strong>DISAGREES</strong>" in html
    assert "sent at edge: one-run: attempt 1 to par-mbx1" in html
    assert "<m0" not in html
    assert "&lt;m000007.calm.7@outside.example&gt;" in html
    assert "http" not in html
