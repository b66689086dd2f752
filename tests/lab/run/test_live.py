"""A whole run on a fake host: what is recorded, what is always done, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lab.hosts.host import Means, Say
from lab.plan.faults import Kill
from lab.plan.link_faults import Cut
from lab.plan.plan import Plan
from lab.program.errors import GroundError
from lab.record.folder import RunFolder
from lab.run import live as run_module
from lab.run.live import run
from lab.run.outcome import RunOptions, RunOutcome
from lab.workload.agent import ProbeMessageReply, WorkloadStatus
from tests.lab.faults.fake_target import FakeGround
from tests.lab.plan.small_plan import A_TO_B, small_plan

CUT = Cut("f1", "cut", 1000, 4000, "refuse", (A_TO_B,))
KILL = Kill("f2", "kill", 2000, 5000, "a", "new-queue-database")
TAKE_DOWN = ["stop the workload", "stop the servers", "collect", "down"]


@dataclass
class FakeHost:
    """A host of fakes; deeds of its own and of its ground are in one list."""

    ground: FakeGround
    name: str = "fake"
    said: list[str] = field(default_factory=list)

    def up(self, plan: Plan, folder: RunFolder, say: Say) -> Means:
        self.ground._do("up")
        return Means(self.ground.links(), self.ground, self.ground, self.ground)

    def start_clock(self) -> int:
        self.ground._do("start the clock")
        return time.monotonic_ns()

    def describe(self) -> Mapping[str, object]:
        return {"versions": {"engine": "1"}, "images": {}}

    def stop_workload(self) -> None:
        self.ground._do("stop the workload")

    def stop_servers(self) -> Mapping[str, int]:
        self.ground._do("stop the servers")
        return {"a": 0}

    def collect(self) -> Sequence[str]:
        self.ground._do("collect")
        return []

    def keep(self) -> str:
        self.ground._do("keep")
        return "shadowlab down removes it"

    def down(self) -> None:
        self.ground._do("down")


@dataclass
class FakeEvaluation:
    """Waits like the real one; its verdict is the lab's."""

    lab: Lab
    folder: Path
    abandoned: bool = False

    def judge(self) -> int:
        if self.lab.breakdown is not None:
            raise self.lab.breakdown
        self.lab.evaluated.append(self.folder)
        return self.lab.verdict

    def abandon(self) -> None:
        self.abandoned = True


@dataclass
class Lab:
    """One fake run. `evaluated` holds the folders that were judged."""

    folder: Path
    plan: Plan
    host: FakeHost
    evaluated: list[Path] = field(default_factory=list)
    verdict: int = 0
    breakdown: GroundError | None = None
    evaluation: FakeEvaluation | None = None
    keep: bool = False

    @property
    def ground(self) -> FakeGround:
        return self.host.ground

    def run(self) -> RunOutcome:
        options = RunOptions(self.folder / "runs", self.folder / "state", "scenario: x", self.keep)
        return run(self.plan, options, self.host, self._begin, self.host.said.append)

    def deeds(self) -> list[str]:
        return [deed for deed in self.ground.deeds if not deed.startswith("mail")]

    def _begin(self, folder: Path) -> FakeEvaluation:
        self.evaluation = FakeEvaluation(self, folder)
        return self.evaluation


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    plan = small_plan([CUT, KILL])
    return Lab(tmp_path, plan, FakeHost(FakeGround(plan)))


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def lines(folder: Path, name: str) -> list[Any]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def test_a_run_goes_its_whole_way_in_order(lab: Lab) -> None:
    outcome = lab.run()
    faults = ["apply f1", "kill a", "undo f1", "set aside a", "start a"]
    assert outcome.exit_code == 0
    assert lab.deeds() == ["up", "start the clock", *faults, *TAKE_DOWN]


def test_the_verdict_is_the_exit_code(lab: Lab) -> None:
    lab.verdict = 2
    assert lab.run().exit_code == 2


def test_every_link_carries_a_probe_message_first(lab: Lab) -> None:
    outcome = lab.run()
    rows = lines(outcome.folder, "probes.jsonl")
    assert len(rows) == len(lab.plan.links)
    assert all(row["message_id"].startswith("<probe.") for row in rows)


def test_a_probe_message_goes_to_a_mailbox_that_the_server_holds(lab: Lab) -> None:
    lab.run()
    assert "mail over a--b--smtp to db1-user01@shadowlab.example" in lab.ground.deeds
    assert "mail over a--x--smtp to probe@partner.example" in lab.ground.deeds


def test_the_folder_holds_what_the_evaluation_needs(lab: Lab) -> None:
    folder = lab.run().folder
    assert (folder / "plan.json").read_text() == lab.plan.to_json()
    assert (folder / "scenario.yaml").read_text() == "scenario: x"
    manifest = read(folder, "manifest.json")
    assert (manifest["scenario"], manifest["seed"], manifest["host"]) == ("small", 7, "fake")
    assert manifest["run"].startswith("small-")
    phases = [(row["fault"], row["phase"]) for row in lines(folder, "faults.jsonl")]
    assert phases[0] == ("f1", "intended")
    assert ("f2", "evidence-healed") in phases


def test_the_host_file_says_how_finely_time_was_resolved(lab: Lab) -> None:
    host = read(lab.run().folder, "host.json")
    assert host["clock_resolution_ms"] >= 0
    assert host["monotonic_zero_ns"] > 0
    assert host["exit"] == 0


def test_latest_leads_to_the_newest_run(lab: Lab) -> None:
    folder = lab.run().folder
    runs = lab.folder / "runs"
    assert (runs / "latest").resolve() == folder
    assert (runs / "small" / "latest").resolve() == folder


@pytest.mark.parametrize("ending", ["no ground", "no verdict"])
def test_latest_stays_at_the_run_that_has_a_verdict(lab: Lab, ending: str) -> None:
    judged = lab.run().folder
    if ending == "no ground":
        lab.ground.fails = {"up"}
    else:
        lab.breakdown = GroundError("the evaluation ended by signal SIGKILL")
    assert lab.run().folder != judged
    assert (lab.folder / "runs" / "latest").resolve() == judged
    assert (lab.folder / "runs" / "small" / "latest").resolve() == judged


def test_two_runs_of_one_second_have_folders_of_their_own(lab: Lab) -> None:
    lab.plan = lab.ground.plan = small_plan(duration_ms=0)
    assert lab.run().folder != lab.run().folder


def test_a_ground_that_does_not_come_up_is_taken_down(lab: Lab) -> None:
    lab.ground.fails = {"up"}
    assert lab.run().exit_code == 3
    assert lab.deeds() == ["up", *TAKE_DOWN]
    assert lab.evaluated == []


def test_a_lab_that_is_not_steady_does_not_run(lab: Lab) -> None:
    lab.ground.probe_message = (  # type: ignore[method-assign]
        lambda address, **_: ProbeMessageReply("failed", "550 5.7.1 no", "refused at MAIL")
    )
    assert lab.run().exit_code == 3
    assert lab.deeds() == ["up", *TAKE_DOWN]


def test_the_cause_is_said_in_one_line(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.ground.fails = {"up"}
    lab.run()
    assert capsys.readouterr().err == "shadowlab: cannot up\n"


def test_a_fault_that_cannot_start_ends_the_run_healed(lab: Lab) -> None:
    lab.ground.fails = {"kill a"}
    assert lab.run().exit_code == 3
    assert lab.deeds()[2:] == [
        "apply f1",
        "kill a",
        "set aside a",
        "start a",
        "undo f1",
        *TAKE_DOWN,
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_person_ends_a_run_healed_collected_and_taken_down(
    lab: Lab, number: signal.Signals
) -> None:
    lab.ground.when_done = lambda deed: os.kill(os.getpid(), number) if deed == "kill a" else None
    assert lab.run().exit_code == 130
    assert lab.deeds()[-4:] == TAKE_DOWN
    assert {"undo f1", "start a"} <= set(lab.deeds())
    assert lab.evaluated == []


def test_a_second_ctrl_c_does_not_leave_the_take_down_half_done(lab: Lab) -> None:
    def press(deed: str) -> None:
        if deed in ("apply f1", "collect", "stop the workload"):
            os.kill(os.getpid(), signal.SIGINT)

    lab.ground.when_done = press
    assert lab.run().exit_code == 130
    assert lab.deeds()[-4:] == TAKE_DOWN


@pytest.mark.slow
def test_a_run_that_hangs_is_ended_healed_and_said(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_module, "ALLOWANCE_SECONDS", 0.2)
    lab.ground.when_done = lambda deed: time.sleep(30) if deed == "kill a" else None
    assert lab.run().exit_code == 3
    assert "the run hung" in capsys.readouterr().err
    assert lab.deeds()[-4:] == TAKE_DOWN


def test_a_step_of_the_take_down_that_fails_skips_none_of_the_others(lab: Lab) -> None:
    lab.ground.fails = {"stop the workload", "collect"}
    assert lab.run().exit_code == 3
    assert lab.deeds()[-4:] == TAKE_DOWN


def test_a_bug_of_the_lab_keeps_its_traceback(lab: Lab) -> None:
    def trip(deed: str) -> None:
        if deed == "apply f1":
            raise ZeroDivisionError

    lab.ground.when_done = trip
    outcome = lab.run()
    assert outcome.exit_code == 3
    assert "ZeroDivisionError" in (outcome.folder / "error.txt").read_text()
    assert lab.deeds()[-4:] == TAKE_DOWN


def test_a_workload_that_crashed_ends_the_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "TICK_SECONDS", 0.005)
    lab.ground.status = lambda: WorkloadStatus(1, 0, 0, 1, "KeyError: 'via'")  # type: ignore[method-assign]
    outcome = lab.run()
    assert outcome.exit_code == 3
    assert "the workload crashed" in read(outcome.folder, "host.json")["cause"]


def test_a_lab_that_is_kept_is_not_removed(lab: Lab) -> None:
    lab.keep = True
    lab.run()
    assert lab.deeds()[-2:] == ["collect", "keep"]


def test_an_evaluation_that_breaks_down_is_exit_3(lab: Lab) -> None:
    lab.breakdown = GroundError("the evaluation ended by signal SIGKILL")
    assert lab.run().exit_code == 3


def test_an_evaluation_that_waits_is_abandoned_with_a_record_that_is_not_whole(lab: Lab) -> None:
    lab.ground.fails = {"collect"}
    assert lab.run().exit_code == 3
    assert lab.evaluation is not None
    assert lab.evaluation.abandoned
    assert lab.evaluated == []
