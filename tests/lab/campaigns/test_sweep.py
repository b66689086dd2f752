"""A sweep simulates every seed once, goes on where it ended, and tells what came up on the way."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lab.campaigns.batches
import lab.campaigns.run
import lab.campaigns.sweep.sweep
import lab.campaigns.sweep.task
from lab.campaigns.batches import BatchJudged, Progress
from lab.campaigns.run import bytes_of, files_of
from lab.campaigns.run_folder import write_run_folder
from lab.campaigns.sweep.conclusion import conclude
from lab.campaigns.sweep.sweep import Seeds, Sweep, fingerprint, sweep_all, sweep_folder
from lab.campaigns.sweep.task import SeedTask
from lab.campaigns.task import Done, carry_out
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.program.errors import GroundError
from lab.replay.run import read_simulated, replay
from tests.lab.hosts.simulator.plans import plan, scenario

CALM = "calm"


@dataclass
class Judged:
    """Everything passes but the seeds that are named; `seeds` are all of them, as they came."""

    codes: dict[int, int]
    seeds: list[int]

    def result_of(self, run: str, seed: int, files: object, settings: object) -> dict[str, Any]:
        self.seeds.append(seed)
        code = self.codes.get(seed, 0)
        verdict = {0: "pass", 1: "fail", 2: "unknown", 3: "unknown"}[code]
        return {"run": run, "seed": seed, "verdict": verdict, "exit_code": code, "claims": []}


@dataclass
class Concluded:
    """Of which folders, and with which code each."""

    codes: dict[str, int]
    folders: list[str]

    def conclude(self, folder: Path) -> tuple[int, str]:
        self.folders.append(folder.name)
        return self.codes.get(folder.name, 0), "verdict: said"


@pytest.fixture
def concluded(monkeypatch: pytest.MonkeyPatch) -> Concluded:
    """Instead of the evaluation."""
    concluded = Concluded({}, [])
    monkeypatch.setattr(lab.campaigns.sweep.sweep, "conclude", concluded.conclude)
    return concluded


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Instead of the evaluation's door."""
    judged = Judged({}, [])
    monkeypatch.setattr(lab.campaigns.run, "result_of", judged.result_of)
    return judged


@pytest.fixture
def carried_out(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    concluded: Concluded,
    judged: Judged,
) -> list[tuple[int, int]]:
    """The ranges of seeds of the tasks, carried out in this process; the record is a stub."""
    ranges: list[tuple[int, int]] = []
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))

    def run_tasks(master: str, tasks: Sequence[SeedTask]) -> list[Done]:
        ranges.extend((task.seeds[0], task.seeds[-1]) for task in tasks)
        return [carry_out(task) for task in tasks]

    monkeypatch.setattr(lab.campaigns.batches, "run_tasks", run_tasks)
    simulate_by(monkeypatch, lambda plan: RecordInMemory())
    return ranges


def simulate_by(
    monkeypatch: pytest.MonkeyPatch, record_of: Callable[[Plan], RecordInMemory]
) -> None:
    def simulate(plan: Plan, *, keeps_inputs: bool) -> RecordInMemory:
        return record_of(plan)

    monkeypatch.setattr(lab.campaigns.sweep.task, "simulate", simulate)


def sweep(folder: Path, said: list[str] | None = None, **options: Any) -> int:
    tell = (said if said is not None else []).append
    return sweep_all([Sweep(scenario(CALM), Seeds(5, 6, 2), folder, "local[1]", tell, **options)])


def test_several_sweeps_are_concluded_and_the_worst_code_counts(
    carried_out: list[tuple[int, int]], concluded: Concluded, tmp_path: Path
) -> None:
    folders = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    concluded.codes |= {"a": 2, "b": 1}
    sweeps = [Sweep(scenario(CALM), Seeds(5, 2, 1), each, "local[1]") for each in folders]
    assert sweep_all(sweeps) == 1
    assert concluded.folders == ["a", "b", "c"]
    assert carried_out == [(5, 5), (6, 6)] * 3
    assert [len(list(each.glob("results/*"))) for each in folders] == [2, 2, 2]


def test_every_seed_is_simulated_and_judged_once_and_leaves_its_result_alone(
    carried_out: list[tuple[int, int]], tmp_path: Path
) -> None:
    folder = tmp_path / "s"
    assert sweep(folder) == 0
    seeds = [seed for first, last in carried_out for seed in range(first, last + 1)]
    assert seeds == [5, 6, 7, 8, 9, 10]
    assert [[each["seed"] for each in rows] for rows in results(folder)] == [
        [5, 6],
        [7, 8],
        [9, 10],
    ]
    assert sorted(each.name for each in folder.iterdir()) == [
        "crashes.jsonl", "results", "scenario.yaml", "sweep.json",
    ]  # fmt: skip


def results(folder: Path) -> Iterator[list[dict[str, Any]]]:
    """Of each batch."""
    for path in sorted((folder / "results").iterdir()):
        yield [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(("keep_records", "kept"), [(False, [6, 8]), (True, [5, 6, 7, 8, 9, 10])])
def test_what_is_no_pass_leaves_its_run_folder(
    keep_records: bool,
    kept: list[int],
    carried_out: list[tuple[int, int]],
    judged: Judged,
    tmp_path: Path,
) -> None:
    judged.codes |= {6: 1, 8: 2}
    said: list[str] = []
    sweep(tmp_path / "s", said, keep_records=keep_records)
    folders = sorted((tmp_path / "s" / "runs").iterdir(), key=lambda each: each.name.rjust(9))
    assert [each.name for each in folders] == [f"calm-{seed}" for seed in kept]
    for folder in folders:
        assert {"plan.json", "scenario.yaml", "manifest.json", "host.json", "files.json"} <= {
            each.name for each in folder.iterdir()
        }
        assert (folder / "scenario.yaml").read_text() == scenario(CALM).text
    assert "2 of 6 seeds; batch=00000: 1 fail, 1 pass, judged in" in "\n".join(said)


def test_where_enough_fail_the_others_are_left_to_their_commands(
    carried_out: list[tuple[int, int]],
    judged: Judged,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lab.campaigns.run, "ENOUGH", 3)
    judged.codes |= dict.fromkeys(range(5, 11), 1)
    sweep(tmp_path / "s")
    kept = {each.name for each in (tmp_path / "s" / "runs").iterdir()}
    assert kept == {"calm-5", "calm-6", "calm-7", "calm-8"}, "whole batches"


def test_a_run_folder_is_the_one_that_a_run_leaves(tmp_path: Path) -> None:
    asked = plan(CALM, 3)
    record = simulate(asked)
    folder = tmp_path / "calm-3"
    for _ in range(2):  # as of a task that is done again
        write_run_folder(folder, asked, record, "as authored")
    assert [each.name for each in tmp_path.iterdir()] == ["calm-3"]
    assert read_simulated(folder) == asked
    assert replay(folder, tmp_path / "again", None) == []
    judged = bytes_of(asked, record)
    for file in judged.keys() - {"plan.json", "manifest.json", "host.json"}:
        assert (folder / file).read_bytes() == judged[file], file


def test_what_is_done_is_not_done_again(carried_out: list[tuple[int, int]], tmp_path: Path) -> None:
    sweep(tmp_path / "s")
    (tmp_path / "s" / "results" / "batch=00002.jsonl").unlink()
    carried_out.clear()
    said: list[str] = []
    sweep(tmp_path / "s", said)
    assert carried_out == [(9, 9), (10, 10)]
    assert "2 of 6 seeds; batch=00000: 2 pass, judged before" in said


@pytest.mark.parametrize("text", ["{", "[]", "{}", "7"])
def test_results_that_no_campaign_left_are_named(
    text: str, carried_out: list[tuple[int, int]], tmp_path: Path
) -> None:
    sweep(tmp_path / "s")
    path = tmp_path / "s" / "results" / "batch=00001.jsonl"
    path.write_text(text)
    with pytest.raises(GroundError) as raised:
        sweep(tmp_path / "s")
    assert raised.value.cause.startswith(f"{path}: is not what a campaign leaves there")
    assert raised.value.hint.startswith("remove it")


def test_an_interrupted_sweep_says_how_it_goes_on(
    carried_out: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(master: str, tasks: Sequence[SeedTask]) -> list[Done]:
        raise KeyboardInterrupt

    said: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(lab.campaigns.batches, "run_tasks", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sweep(tmp_path, said)
    assert said[-1] == "hint: the same command goes on from here"
    assert sweep(tmp_path) == 0
    assert carried_out


def test_what_is_left_is_expected_from_this_sitting_alone() -> None:
    progress = Progress(1000, iter([0.0, 60.0]).__next__, {"batch=00000"})
    progress.begin()
    before, now = (BatchJudged(f"batch=0000{n}", 250, 9.6, {"pass": 250}) for n in range(2))
    progress.count(before)
    assert progress.in_words(before) == "judged before"
    progress.count(now)
    assert progress.in_words(now) == "judged in 10 s; about 2:00 min left"


def test_what_is_left_is_expected_by_the_last_few_batches() -> None:
    """The first batch took ten minutes, and each one after it ten seconds."""
    progress = Progress(1000, iter([0.0, *range(600, 660, 10)]).__next__)
    progress.begin()
    for number in range(6):
        judged = BatchJudged(f"batch=0000{number}", 100, 9.6, {"pass": 100})
        progress.count(judged)
    assert progress.in_words(judged) == "judged in 10 s; about 40 s left"


def test_what_is_left_is_expected_from_when_it_began_to_go_through(
    carried_out: list[tuple[int, int]], tmp_path: Path
) -> None:
    """Of several scenarios, the later ones are made long before."""
    said: list[str] = []
    made = Sweep(scenario(CALM), Seeds(0, 4, 2), tmp_path, "local[1]", said.append)
    made.work.progress.clock = lambda: 5000.0
    sweep_all([made])
    assert said[1] == "2 of 4 seeds; batch=00000: 2 pass, judged in 0 s; about 0 s left"


def test_a_crash_of_a_node_is_told_and_fails_the_sweep_even_later(
    carried_out: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record_of(plan: Plan) -> RecordInMemory:
        record = RecordInMemory()
        if plan.seed == 7:
            record.crashes["par-mbx1"] = ["Traceback …\nAssertionError: lab time went back\n"]
        return record

    simulate_by(monkeypatch, record_of)
    said: list[str] = []
    assert sweep(tmp_path / "s", said) == 1
    assert any(
        "seed 7: par-mbx1 crashed: AssertionError: lab time went back" in line
        and "shadowlab run calm --on simulator --seed 7" in line
        for line in said
    )
    assert sweep(tmp_path / "s") == 1, "the second call simulates nothing and still knows"


def test_a_seed_that_cannot_be_simulated_is_the_labs_own_failure(
    carried_out: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record_of(plan: Plan) -> RecordInMemory:
        if plan.seed == 7:
            raise ValueError("no such link")
        return RecordInMemory()

    simulate_by(monkeypatch, record_of)
    said: list[str] = []
    assert sweep(tmp_path / "s", said) == 3
    assert "seed 7 cannot be simulated: ValueError: no such link" in said
    rows = {each["seed"]: each for batch in results(tmp_path / "s") for each in batch}
    assert rows[7]["reasons"] == ["the lab could not simulate it: ValueError: no such link"]
    assert {seed: each["exit_code"] for seed, each in rows.items()} == {
        **dict.fromkeys(range(5, 11), 0), 7: 3,
    }  # fmt: skip


@pytest.mark.parametrize("code", range(4))
def test_the_evaluations_code_is_the_sweeps(
    code: int, carried_out: list[tuple[int, int]], concluded: Concluded, tmp_path: Path
) -> None:
    concluded.codes["s"] = code
    assert sweep(tmp_path / "s") == code


def test_the_evaluation_concludes_what_was_judged(tmp_path: Path) -> None:
    with pytest.raises(GroundError) as raised:
        conclude(tmp_path / "none")
    assert "no sweep.json" in raised.value.cause
    done = Sweep(scenario(CALM), Seeds(3, 1, 1), tmp_path / "s", "local[1]")
    done.describe()
    (batch,) = done.batches()
    rows = [row for task in batch.tasks() for row in carry_out(task).results]
    lab.campaigns.batches.write_results(tmp_path / "s", batch.name, rows)
    code, said = conclude(tmp_path / "s")
    assert (code, said.splitlines()[0]) == (0, "verdict: pass: calm, 1 of 1 seeds judged")
    assert said.splitlines()[-1] == f"report: {tmp_path / 's' / 'report.html'}"


def test_a_change_of_scenario_or_seeds_is_another_sweep(tmp_path: Path) -> None:
    seeds = Seeds(0, 10, 5)
    same = sweep_folder(tmp_path, scenario(CALM), seeds)
    assert same == sweep_folder(tmp_path, scenario(CALM), Seeds(0, 10, 5))
    assert same != sweep_folder(tmp_path, scenario("site-cut"), seeds)
    assert fingerprint(scenario(CALM), seeds) != fingerprint(scenario(CALM), Seeds(0, 10, 2))


def test_the_plan_is_one_line() -> None:
    one = plan(CALM, 1)
    files = dict(files_of(one, RecordInMemory()))
    assert len(files["plan.json"]) == 1
    assert Plan.from_json(files["plan.json"][0]) == one
