"""A sweep simulates every seed once, goes on where it ended, and tells what came up on the way."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
import pytest

import lab.campaigns.batches
import lab.campaigns.sweep.sweep
import lab.campaigns.sweep.task
from lab.campaigns.batches import Progress
from lab.campaigns.sweep.judge import BatchJudged
from lab.campaigns.sweep.sweep import Seeds, Sweep, fingerprint, sweep_all, sweep_folder
from lab.campaigns.sweep.task import Done, SeedTask, carry_out, files_of
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.plan.plan import Plan
from spark_eval import schema
from tests.lab.hosts.simulator.plans import plan, scenario

CALM = "calm"


class FakeJudge:
    """Says that everything passes, and remembers of what it was told."""

    told: list[str]
    code = 0
    of_folder: ClassVar[dict[str, int]] = {}

    def __init__(self, *folders: Path, master: str) -> None:
        self.folders = list(folders)
        self.told = []
        self.pending: list[str] = []
        FakeJudge.last = self

    def next_judged(self, batch: str | None) -> BatchJudged | None:
        if batch is not None:
            self.told.append(batch)
            self.pending.append(batch)
            if len(self.pending) == 1:
                return None
        if not self.pending:
            return None
        name = self.pending.pop(0)
        results = self.folders[0] / "results"
        results.mkdir(exist_ok=True)
        (results / f"{name}.jsonl").write_text("{}\n")
        return BatchJudged(name, 2, 0.1, {"pass": 2})

    def conclude(self) -> tuple[int, str]:
        folder = self.folders.pop(0)
        return FakeJudge.of_folder.get(folder.name, FakeJudge.code), "verdict: said"

    def __enter__(self) -> "FakeJudge":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    last: "FakeJudge"


@pytest.fixture
def carried_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[int, int]]:
    """The ranges of seeds of the tasks, carried out in this process; the record is a stub."""
    ranges: list[tuple[int, int]] = []
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))

    def run_tasks(master: str, tasks: Sequence[SeedTask]) -> list[Done]:
        ranges.extend((task.seeds[0], task.seeds[-1]) for task in tasks)
        return [carry_out(task) for task in tasks]

    monkeypatch.setattr(lab.campaigns.batches, "run_tasks", run_tasks)
    monkeypatch.setattr(lab.campaigns.sweep.sweep, "SweepJudge", FakeJudge)
    monkeypatch.setattr(
        lab.campaigns.sweep.sweep, "simulate", lambda plan, keeps_inputs: RecordInMemory()
    )
    simulate_by(monkeypatch, lambda plan: RecordInMemory())
    FakeJudge.code = 0
    return ranges


def simulate_by(
    monkeypatch: pytest.MonkeyPatch, record_of: Callable[[Plan], RecordInMemory]
) -> None:
    def simulate(plan: Plan, *, keeps_inputs: bool = True) -> RecordInMemory:
        return record_of(plan)

    monkeypatch.setattr(lab.campaigns.sweep.task, "simulate", simulate)


def sweep(folder: Path, said: list[str] | None = None, **options: Any) -> int:
    tell = (said if said is not None else []).append
    return sweep_all([Sweep(scenario(CALM), Seeds(5, 6, 2), folder, "local[1]", tell, **options)])


def test_several_sweeps_are_judged_by_one_program_and_the_worst_code_counts(
    carried_out: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    monkeypatch.setattr(FakeJudge, "of_folder", {"a": 2, "b": 1})
    sweeps = [Sweep(scenario(CALM), Seeds(5, 2, 1), each, "local[1]") for each in folders]
    assert sweep_all(sweeps) == 1
    assert FakeJudge.last.told == ["batch=00000", "batch=00001"] * 3
    assert FakeJudge.last.folders == []
    assert carried_out == [(5, 5), (6, 6)] * 3
    assert [len(list(each.glob("results/*"))) for each in folders] == [2, 2, 2]


def test_every_seed_is_simulated_once_and_every_batch_judged(
    carried_out: list[tuple[int, int]], tmp_path: Path
) -> None:
    assert sweep(tmp_path / "s") == 0
    seeds = [seed for first, last in carried_out for seed in range(first, last + 1)]
    assert seeds == [5, 6, 7, 8, 9, 10]
    assert FakeJudge.last.told == ["batch=00000", "batch=00001", "batch=00002"]
    assert not list((tmp_path / "s" / "record").glob("batch=*"))


def test_what_is_done_is_not_done_again(carried_out: list[tuple[int, int]], tmp_path: Path) -> None:
    sweep(tmp_path / "s", keep_records=True)
    (tmp_path / "s" / "results" / "batch=00002.jsonl").unlink()
    (tmp_path / "s" / "record" / "batch=00002" / "_SUCCESS").unlink()
    (tmp_path / "s" / "record" / "batch=00002" / "part-10-10.parquet").unlink()
    carried_out.clear()
    sweep(tmp_path / "s", keep_records=True)
    assert carried_out == [(10, 10)]


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


@pytest.mark.parametrize(("judged", "code"), [(0, 0), (1, 1), (2, 2), (3, 3)])
def test_the_evaluations_code_is_the_sweeps(
    judged: int, code: int, carried_out: list[tuple[int, int]], tmp_path: Path
) -> None:
    FakeJudge.code = judged
    assert sweep(tmp_path / "s") == code


def test_a_change_of_scenario_or_seeds_is_another_sweep(tmp_path: Path) -> None:
    seeds = Seeds(0, 10, 5)
    same = sweep_folder(tmp_path, scenario(CALM), seeds)
    assert same == sweep_folder(tmp_path, scenario(CALM), Seeds(0, 10, 5))
    assert same != sweep_folder(tmp_path, scenario("site-cut"), seeds)
    assert fingerprint(scenario(CALM), seeds) != fingerprint(scenario(CALM), Seeds(0, 10, 2))


def test_a_tasks_file_has_the_columns_that_the_evaluation_reads(tmp_path: Path) -> None:
    checked = scenario(CALM)
    done = carry_out(SeedTask(checked.scenario, checked.topology, (3,), tmp_path))
    assert (done.runs, done.crashes, done.bugs) == (1, (), ())
    table = pq.read_table(tmp_path / "part-3-3.parquet")
    assert table.column_names == [name for name, _ in schema.SWEEP_LINES]
    rows = table.to_pylist()
    assert {row["run"] for row in rows} == {"calm-3"}
    files = {row["file"] for row in rows}
    assert {"plan.json", "manifest.json", "host.json", "ledger.jsonl", "faults.jsonl"} <= files
    assert not [file for file in files if file.endswith("inputs.jsonl")]
    empty = [row for row in rows if row["file"] == "faults.jsonl"]
    assert [(row["line"], row["text"]) for row in empty] == [(0, "")]
    log = [row for row in rows if "/MSGTRK" in row["file"]]
    assert all(row["fields"].startswith("date-time,client-ip") for row in log)


def test_the_plan_is_one_line() -> None:
    one = plan(CALM, 1)
    files = dict(files_of(one, RecordInMemory()))
    assert len(files["plan.json"]) == 1
    assert Plan.from_json(files["plan.json"][0]) == one
