"""A proof on containers: which defects are tried there, and what their runs come to. The runs
themselves stand in: that a container has the defect is asked in tests/defects and tests/ground.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from defects.catalogue import ALL, BY_NAME
from defects.defect import Defect
from lab.campaigns.prove import on_containers as prove_on_containers
from lab.campaigns.prove.choice import TENTHS, part_of, tenth_of
from lab.campaigns.prove.on_containers import OnContainers
from lab.campaigns.prove.verdict import CAUGHT, MISSED, NOT_RUN
from lab.campaigns.prove.view import told
from lab.cli.__main__ import main
from lab.cli.prove import _for_containers
from lab.hosts.containers import engine
from lab.plan.plan import Plan
from lab.program.errors import GROUND_FAILED, INTERRUPTED, GroundError, ScenarioError
from lab.program.watchdog import Interrupted
from lab.run.durations import Durations
from lab.run.outcome import RunOutcome
from tests.lab.hosts.simulator.plans import plan

CALM = "calm"
EATS = Defect("eats-mail", "Mail is eaten.", "SM-15", CALM, ("no_loss",), nullcontext)


def judged(*violated: str) -> dict[str, Any]:
    """verdict.json of a run."""
    return {
        "seed": 0,
        "verdict": "fail" if violated else "pass",
        "foretold": "pass",
        "reasons": [],
        "claims": [{"name": name, "status": "violated"} for name in violated],
        "requirements": {"SM-15": "violated" if "no_loss" in violated else "proven"},
    }


class Runs:
    """Stands in for containers: what each run comes to, in order."""

    def __init__(self, folder: Path, *endings: dict[str, Any] | int) -> None:
        self._folder, self._endings = folder, list(endings)
        self.asked: list[tuple[str, int]] = []

    def __call__(self, defect: Defect, asked: Plan) -> RunOutcome:
        self.asked.append((defect.name, asked.seed))
        folder, ending = self._folder / f"run-{len(self.asked)}", self._endings.pop(0)
        folder.mkdir()
        if isinstance(ending, int):
            (folder / "host.json").write_text(json.dumps({"cause": "no Docker engine answers"}))
            return RunOutcome(folder, ending)
        (folder / "verdict.json").write_text(json.dumps(ending))
        return RunOutcome(folder, 1 if ending["verdict"] == "fail" else 0)


def proving(folder: Path, runs: Runs, seeds: int = 1) -> OnContainers:
    plans = {EATS.name: [plan(CALM, seed) for seed in range(seeds)]}
    durations = Durations(folder)
    return OnContainers([EATS], plans, folder, runs, lambda line: None, durations)


def test_a_defect_is_caught_where_its_claim_is_violated(tmp_path: Path) -> None:
    runs = Runs(tmp_path, judged("no_loss"), judged("no_loss"))
    made = proving(tmp_path, runs, seeds=2).run()
    assert runs.asked == [("eats-mail", 0), ("eats-mail", 1)]
    assert ([each.status for each in made.findings], made.code) == ([CAUGHT], 0)
    content = json.loads((tmp_path / "prove.json").read_text())
    assert (content["on"], content["code"]) == ("containers", 0)
    assert content["requirements"] == {"SM-15": {"status": "proven", "by": ["eats-mail"]}}


def test_a_defect_that_passes_fails_the_proof(tmp_path: Path) -> None:
    made = proving(tmp_path, Runs(tmp_path, judged())).run()
    assert ([each.status for each in made.findings], made.code) == ([MISSED], 1)


def test_a_node_that_broke_down_has_not_shown_its_defect(tmp_path: Path) -> None:
    made = proving(tmp_path, Runs(tmp_path, judged("no_loss", "no_crash"))).run()
    assert made.code == 1
    assert "eats-mail: its node crashed, which breaks no promise" in "\n".join(told(made))


def test_a_run_that_the_lab_could_not_carry_out_says_nothing_of_its_defect(tmp_path: Path) -> None:
    made = proving(tmp_path, Runs(tmp_path, GROUND_FAILED)).run()
    assert ([each.status for each in made.findings], made.code) == ([NOT_RUN], GROUND_FAILED)
    why = "eats-mail/calm/0: no Docker engine answers"
    assert f"eats-mail: the lab could not run it in calm: {why}" in "\n".join(told(made))


def test_who_ends_a_run_ends_the_proof(tmp_path: Path) -> None:
    runs = Runs(tmp_path, INTERRUPTED, judged("no_loss"))
    with pytest.raises(Interrupted):
        proving(tmp_path, runs, seeds=2).run()
    assert runs.asked == [("eats-mail", 0)]


def test_ten_tenths_are_the_whole_catalogue() -> None:
    parts = [part_of(ALL, tenth) for tenth in range(1, TENTHS + 1)]
    assert sorted(each.name for part in parts for each in part) == sorted(BY_NAME)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_ten_days_in_a_row_try_ten_different_tenths() -> None:
    days = [date(2026, 2, 25) + timedelta(days=day) for day in range(TENTHS)]
    assert {tenth_of("today", day) for day in days} == set(range(1, TENTHS + 1))


@pytest.mark.parametrize("text", ["0", "11", "-1", "1.0", "", "tomorrow", "９", "0" * 5000])
def test_what_is_no_tenth_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="is no tenth"):
        tenth_of(text, date(2026, 2, 25))


WRONG_CALLS: dict[str, tuple[list[str], str, str]] = {
    "no tenth": (["--tenth", "elf"], "--tenth: 'elf' is no tenth", "1 to 10, or today"),
    "names and a tenth": (["keeps-for-ever", "--tenth", "1"], "--tenth and names", "leave one out"),
    "a night of names": (["keeps-for-ever", "--nightly"], "--nightly and names", "leave one out"),
    "a listed night": (["--nightly", "--list"], "--nightly and --list", "leave one out"),
    "another host": (["--on", "docker"], "Invalid value for '--on'", "shadowlab prove --help"),
    "a power loss": (
        ["databases-are-never-synced", "--on", "containers"],
        "--on containers: databases-are-never-synced: a container that is killed loses nothing",
        "--on simulator",
    ),
    "what no container shows": (
        ["takes-everybody-for-a-server", "--on", "containers"],
        "--on containers: takes-everybody-for-a-server: the shell of a node refuses strangers",
        "--on simulator",
    ),
}


@pytest.mark.parametrize(("words", "cause", "hint"), WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_a_wrong_call_of_a_proof_starts_nothing(
    words: list[str],
    cause: str,
    hint: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prove_on_containers, "OnContainers", None)
    assert main(["prove", *words]) == 4
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"shadowlab: {cause}")
    assert second.startswith(f"hint: {hint}")


def test_what_containers_cannot_show_is_not_tried_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["prove", "--list", "--on", "containers"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[::2]]
    left_out = set(BY_NAME) - set(listed)
    assert len(listed) == len(set(listed))
    assert {BY_NAME[name].scenario for name in left_out} == {
        "power-fails",  # no container loses its power
        "around-the-span",  # for the simulator alone
        "failovers",
        "safety-net-lost-at-seven",
        "twelve-hours-of-silence",
        "one-server-at-a-time",
        "two-branches",
        "lossless-switchover",  # one of its defects, by what it says of itself
        "strangers-call",  # another
        "limits",  # one of its defects: the shell refuses it before
        "one-way-heartbeat",  # a heartbeat that is late by less than a timer may be there
        "site-cut",  # a retry likewise
        "retries-and-idle-queues",  # and a queue that is gone some seconds early
    }


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which proofs a call made; they find nothing."""
    made: list[str] = []

    def proof_on(host: str, code: int) -> Callable[..., int]:
        def prove(defects: tuple[Defect, ...], *_: object) -> int:
            made.append(f"{len(defects)} on {host}")
            return code

        return prove

    monkeypatch.setattr("lab.cli.prove.prove_simulated", proof_on("simulator", 0))
    monkeypatch.setattr("lab.cli.prove.prove_on_containers", proof_on("containers", 1))
    return made


NIGHTS: dict[str, tuple[list[str], bool, list[str], int]] = {
    "with an engine": ([], True, ["simulator", "containers"], 1),
    "without": ([], False, ["simulator"], 0),
    "simulated": (["--on", "simulator"], True, ["simulator"], 0),
    "on containers": (["--on", "containers"], True, ["containers"], 1),
}


@pytest.mark.parametrize(("words", "answers", "hosts", "code"), NIGHTS.values(), ids=NIGHTS)
def test_a_night_simulates_all_and_tries_a_tenth_on_containers(
    words: list[str],
    answers: bool,
    hosts: list[str],
    code: int,
    proofs: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "answers", lambda: answers)
    assert main(["prove", "--nightly", *words]) == code
    assert [each.partition(" on ")[2] for each in proofs] == hosts
    counts = {each.partition(" on ")[2]: int(each.split()[0]) for each in proofs}
    assert counts.get("simulator", len(ALL)) == len(ALL)
    tenth = len(_for_containers(ALL, None)) / 10
    assert tenth > len(ALL) / 11
    assert abs(counts.get("containers", tenth) - tenth) < 1


def test_containers_that_were_asked_for_need_an_engine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise GroundError("no Docker engine answers at the local socket", "make engine")

    monkeypatch.setattr(engine, "connect", refuse)
    assert main(["prove", "keeps-for-ever", "--on", "containers"]) == GROUND_FAILED
    assert "no Docker engine answers" in capsys.readouterr().err
