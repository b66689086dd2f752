"""What a proof comes to, and how it is asked for; that the claims catch the catalogue is asked in
tests/scenarios.
"""

from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import lab.campaigns.prove.prove
from defects.catalogue import ALL, BY_NAME
from defects.defect import Defect
from lab.campaigns.prove.prove import STEP, Proving, expected, note
from lab.campaigns.prove.task import SOUND, DefectTask, is_not_caught
from lab.campaigns.prove.verdict import (
    BELIEVED,
    BROKEN,
    CAUGHT,
    ELSEWHERE,
    KNOWN,
    MISSED,
    NOT_ASKED,
    PROVEN,
    SURPRISE,
    Proof,
    Result,
    Runs,
    finding,
    proof,
    soundness,
    violated_in,
)
from lab.campaigns.prove.view import told
from lab.campaigns.run import Keeping, is_no_pass
from lab.campaigns.task import Done, carry_out
from lab.cli.__main__ import main
from lab.run.durations import DEFAULTS, Durations
from spark_eval.sweep.result import unjudged
from tests.lab.hosts.simulator.plans import plan, scenario

ROOT = Path(__file__).parents[3]
CALM = "calm"


def defect(**changes: Any) -> Defect:
    about: dict[str, Any] = {
        "name": "eats-mail",
        "sentence": "Mail is eaten.",
        "requirement": "SM-15",
        "scenario": CALM,
        "claims": ("no_loss",),
        "broken": nullcontext,
    }
    return Defect(**{**about, **changes})


def result(*violated: str, **changes: Any) -> Result:
    """Of a run: these claims are violated, and no other."""
    claims = [{"name": name, "status": "violated"} for name in violated]
    about: dict[str, Any] = {
        "seed": 0,
        "verdict": "fail" if violated else "pass",
        "foretold": "pass",
        "reasons": [],
        "claims": [{"name": "no_phantom", "status": "holds"}, *claims],
        "requirements": {"SM-15": "violated" if "no_loss" in violated else "proven"},
    }
    return {**about, **changes}


def runs(*results: Result, crashes: Sequence[str] = (), bugs: Sequence[str] = ()) -> Runs:
    return Runs(CALM, range(len(results) + len(bugs)), results, crashes, bugs)


LOST, FINE, TOLD_TWICE = result("no_loss"), result(), result("dsn_sent")
STANDINGS = {
    "caught under every seed": (defect(), runs(LOST, LOST), CAUGHT),
    "caught under some seeds": (defect(), runs(LOST, FINE), MISSED),
    "rare, and caught under one of four seeds": (
        defect(is_rare=True),
        runs(*[LOST] * 2, *[FINE] * 6),
        CAUGHT,
    ),
    "rare, and caught under fewer": (defect(is_rare=True), runs(LOST, *[FINE] * 7), MISSED),
    "caught under none": (defect(), runs(FINE, FINE), MISSED),
    "rare, and caught under none": (defect(is_rare=True), runs(FINE, FINE), MISSED),
    "another claim notices": (defect(), runs(TOLD_TWICE, TOLD_TWICE), ELSEWHERE),
    "one of two claims notices": (
        defect(claims=("no_loss", "dsn_sent")),
        runs(LOST, LOST),
        ELSEWHERE,
    ),
    "both of two claims notice": (
        defect(claims=("no_loss", "dsn_sent")),
        runs(result("no_loss", "dsn_sent")),
        CAUGHT,
    ),
    "its node crashes": (defect(), runs(LOST, crashes=["eats-mail/calm/0: par: KeyError"]), BROKEN),
    "it cannot be simulated": (defect(), runs(LOST, bugs=["eats-mail/calm/1: KeyError"]), BROKEN),
    "known": (defect(not_caught="nobody counts"), runs(FINE, FINE), KNOWN),
    "known, and caught": (defect(not_caught="nobody counts"), runs(LOST, LOST), SURPRISE),
    "known, and caught under some seeds": (
        defect(not_caught="nobody counts"),
        runs(LOST, FINE),
        KNOWN,
    ),
}


@pytest.mark.parametrize(("broken", "found", "status"), STANDINGS.values(), ids=STANDINGS)
def test_a_defect_is_caught_only_by_what_must_catch_it(
    broken: Defect, found: Runs, status: str
) -> None:
    assert finding(broken, found).status == status


def made(broken: Defect, found: Runs, sound: Runs) -> Proof:
    return proof([finding(broken, found)], [soundness(sound)])


UNKNOWN = result(verdict="unknown", reasons=["fault f1 has no evidence"])
CODES = {
    "all is well": (runs(LOST), runs(FINE), 0),
    "a known gap is no failure": (runs(FINE), runs(FINE), 0),
    "nothing catches it": (runs(FINE), runs(FINE), 1),
    "only another claim catches it": (runs(TOLD_TWICE), runs(FINE), 1),
    "a sound node is accused": (runs(LOST), runs(LOST), 1),
    "nobody knows of a sound node": (runs(LOST), runs(UNKNOWN), 2),
    "a sound node crashes": (runs(LOST), runs(FINE, crashes=["sound/calm/0: KeyError"]), 1),
    "a sound node cannot be simulated": (runs(LOST), runs(bugs=["sound/calm/0: KeyError"]), 3),
}


@pytest.mark.parametrize(("found", "sound", "code"), CODES.values(), ids=CODES)
def test_a_proof_fails_for_a_defect_that_passes_and_for_a_sound_node_that_fails(
    found: Runs, sound: Runs, code: int, request: pytest.FixtureRequest
) -> None:
    why = "nobody counts" if "known gap" in request.node.name else ""
    assert made(defect(not_caught=why), found, sound).code == code


def test_a_requirement_is_proven_by_a_defect_that_breaks_it() -> None:
    asked = {"SM-15": "violated", "TL-7": "proven", "SR-9": "not asked", "TL-9": "not checked"}
    found = made(defect(), runs(result("no_loss", requirements=asked)), runs(FINE))
    assert found.requirements == {
        "SM-15": (PROVEN, ("eats-mail",)),
        "SR-9": (NOT_ASKED, ()),
        "TL-7": (BELIEVED, ()),
    }


def test_a_requirement_is_believed_where_only_another_promise_was_seen_to_break() -> None:
    asked = {"SM-13": "proven", "SM-15": "violated"}
    broken = defect(requirement="SM-13")
    found = made(broken, runs(result("no_loss", requirements=asked)), runs(FINE))
    assert found.requirements["SM-13"] == (BELIEVED, ())


def test_whatever_is_wrong_is_named_with_its_scenario_and_seeds() -> None:
    lines = "\n".join(told(made(defect(), runs(FINE, FINE), runs(LOST, FINE))))
    assert "SM-15 eats-mail: no_loss catches it in calm under 0 of 2 seeds" in lines
    assert "a sound node violates no_loss in calm under 1 of 2 seeds" in lines


def test_what_is_known_and_not_caught_is_named_every_time() -> None:
    lines = list(told(made(defect(not_caught="nobody counts"), runs(FINE), runs(FINE))))
    assert lines[-2:] == ["known and not caught (1):", "  SM-15 eats-mail: nobody counts"]


def task(name: str, folder: Path, seeds: range = range(1)) -> DefectTask:
    plans = tuple(plan(CALM, seed) for seed in seeds)
    keeps = partial(is_not_caught, ("no_phantom",))
    return DefectTask(name, plans, Keeping(folder, keeps=is_no_pass if name == SOUND else keeps))


def test_runs_of_sound_nodes_pass_and_leave_nothing(tmp_path: Path) -> None:
    done = carry_out(task(SOUND, tmp_path, range(2)))
    assert (done.crashes, done.bugs) == ((), ())
    assert [(each["run"], each["verdict"]) for each in done.results] == [
        ("sound/calm/0", "pass"), ("sound/calm/1", "pass"),
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_a_defect_that_what_must_catch_it_passes_leaves_its_run_folder(tmp_path: Path) -> None:
    name = "loses-one-delivery-in-fifty"
    (found,) = carry_out(task(name, tmp_path)).results
    assert found["run"] == f"{name}/calm/0"
    assert "no_loss" in violated_in(found)
    assert (tmp_path / name / "calm" / "0" / "ledger.jsonl").exists()
    assert not is_not_caught(("no_loss",), found)


def test_a_node_that_spins_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.campaigns.prove.task.LONGEST_S", 0.05)
    done = carry_out(task(SOUND, tmp_path))
    (found,) = done.results
    assert found["reasons"] == [
        "the lab could not simulate it: TimeoutError: not over after 0 s: a node spins"
    ]
    assert len(done.bugs) == 1


def test_a_node_that_crashes_is_told_with_its_last_words(tmp_path: Path) -> None:
    @contextmanager
    def crashing() -> Any:
        with patch("nodes.core.node.Node.handle", side_effect=KeyError("mine")):
            yield

    with patch.dict(BY_NAME, {"crashes": defect(broken=crashing)}):
        done = carry_out(task("crashes", tmp_path))
    assert ("crashes/calm/0", "par-mbx1", "KeyError: 'mine'") in done.crashes


def second_one_cannot_be_simulated(asked: DefectTask) -> Done:
    first, *others = asked.names()
    rows = [unjudged(name, 0, "the lab could not simulate it") for name in others]
    return Done(({**result(), "run": first}, *rows), 0.1)


def test_a_run_without_a_result_is_a_bug_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.campaigns.prove.prove, "carry_out", second_one_cannot_be_simulated)
    scenarios = {CALM: scenario(CALM)}
    made = Proving([defect()], scenarios, 2, tmp_path, lambda line: None).run()
    (found,), (sound,) = made.findings, made.sound
    assert found.status == BROKEN
    assert list(sound.runs.bugs) == ["sound/calm/1: the lab could not simulate it"]
    assert len(sound.runs.results) == 1
    assert made.code == 3


def test_a_proof_that_is_interrupted_says_that_it_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lab.campaigns.prove.prove, "simulating", interrupted)
    assert main(["prove", "keeps-for-ever"]) == 130
    told = capsys.readouterr()
    assert told.out == ""
    assert "hint: 0 of 10 runs are judged; nothing is proven" in told.err.splitlines()


def test_how_long_a_few_runs_took_says_nothing_of_many(tmp_path: Path) -> None:
    durations = Durations(tmp_path)
    note(durations, 2, 80.0)
    assert expected(durations, 4) == 80.0
    # where none of many was seen
    assert expected(durations, 1000) == 80.0 + 1000 * DEFAULTS[STEP]
    note(durations, 1000, 580.0)
    assert expected(durations, 1000) == 580.0
    assert expected(durations, 4) == 80.0


def test_the_catalogue_is_listed_without_being_tried(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab.campaigns.prove.prove, "Proving", None)
    assert main(["prove", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(each.name in out and each.sentence in out for each in ALL)
    assert all(each.not_caught in out for each in ALL)


def test_one_defect_is_listed_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "keeps-for-ever", "--list"]) == 0
    assert capsys.readouterr().out == (
        "keeps-for-ever  SN-1  calm: held_long_enough\n    Nothing leaves a Safety Net.\n"
    )


@pytest.mark.parametrize(
    ("words", "cause", "hint"),
    [
        (["keeps-for-evr"], "there is no defect keeps-for-evr", "did you mean keeps-for-ever?"),
        (["x"], "there is no defect x", "shadowlab prove --list shows every defect"),
        (["--seeds", "0"], "Invalid value for '--seeds'", "shadowlab prove --help says how"),
        ([""], "Invalid value for 'names'", "shadowlab prove --help says how"),
    ],
)
def test_a_wrong_call_starts_nothing_and_names_the_nearest(
    words: list[str],
    cause: str,
    hint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["prove", *words]) == 4
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"shadowlab: {cause}")
    assert second.startswith(f"hint: {hint}")
    assert list(tmp_path.iterdir()) == []
