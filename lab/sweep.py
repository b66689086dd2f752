"""Many seeds of one scenario, simulated on Spark's executors and judged batch by batch.

    runs/<scenario>/sweeps/<first>-<count>-<fingerprint>/

A batch is simulated by tasks that each write one Parquet file, then judged by the evaluation, a
program of its own that goes on beside the next batch; its record is then let go, so a sweep of any
length needs the room of a few batches. What is done already is not done again: the same command
goes on where an interrupted one ended, unless the scenario or the code have changed, which the
fingerprint tells. What a run means is not decided here.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lab.durations import Durations
from lab.errors import FAIL, GROUND_FAILED, PASS, UNKNOWN
from lab.hosts.simulator.simulation import simulate
from lab.plan import resolve
from lab.progress import waiting
from lab.run_folder import json_text, write_whole
from lab.run_outcome import Say, say_to_stderr, span
from lab.scenario_files import RUNS
from lab.sweep_judge import BatchJudged, SweepJudge
from lab.sweep_record import Done, Task
from lab.sweep_spark import ROOT, run_tasks
from lab.validate import CheckedScenario

TASKS_PER_BATCH = 10
WORST_FIRST = (GROUND_FAILED, FAIL, UNKNOWN, PASS)


@dataclass(frozen=True, slots=True)
class Seeds:
    """Seeds `first` to `first + count - 1`, `per_batch` at a time."""

    first: int
    count: int
    per_batch: int

    def batches(self) -> Iterator[tuple[str, int, int]]:
        """`batch=00000`, its first and its last seed."""
        end = self.first + self.count
        for number, first in enumerate(range(self.first, end, self.per_batch)):
            yield f"batch={number:05}", first, min(first + self.per_batch, end) - 1


@dataclass(slots=True)
class Progress:
    """How far a sweep is. `earlier` names batches of another sitting: they took no time in this."""

    seeds: int
    clock: Callable[[], float] = time.monotonic
    earlier: set[str] = field(default_factory=set)
    judged: int = 0
    judged_now: int = 0
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def count(self, finished: BatchJudged) -> None:
        self.judged += finished.runs
        self.judged_now += 0 if finished.batch in self.earlier else finished.runs

    def in_words(self, finished: BatchJudged) -> str:
        """`judged in 36 s; about 51:44 min left`."""
        if finished.batch in self.earlier:
            return "judged before"
        seconds = (self.clock() - self.began) / self.judged_now * (self.seeds - self.judged)
        return f"judged in {finished.seconds:.0f} s; about {span(seconds)} left"


@dataclass(slots=True)
class Sweep:
    """One sweep into `folder`; `run` it once, in the main thread."""

    scenario: CheckedScenario
    seeds: Seeds
    folder: Path
    master: str
    say: Say = say_to_stderr
    keep_records: bool = False
    durations: Durations = field(default_factory=lambda: Durations(RUNS))
    done: list[Done] = field(default_factory=list)

    def run(self) -> int:
        """The exit code: the worst of what the evaluation says and of what came up on the way.

        Raises GroundError when Spark or the evaluation cannot do their work.
        """
        self._describe()
        about = self._foretell()
        try:
            with waiting("sweeping", about), SweepJudge(self.folder, self.master) as judge:
                self._all_batches(judge)
                code, said = judge.conclude()
            print(said, end="", flush=True)
        except KeyboardInterrupt:
            self.say("interrupted; the same command goes on from here")
            raise
        return next(each for each in WORST_FIRST if each in (code, *self._own_codes()))

    def _all_batches(self, judge: SweepJudge) -> None:
        """Simulate a batch while the one before it is judged."""
        progress = Progress(self.seeds.count)
        for batch, first, last in self.seeds.batches():
            if self._is_judged(batch):
                progress.earlier.add(batch)
            else:
                self._simulate(batch, first, last)
            finished = judge.next_judged(batch)
            if finished is not None:
                self._tell(finished, progress)
        while (finished := judge.next_judged(None)) is not None:
            self._tell(finished, progress)

    def _simulate(self, batch: str, first: int, last: int) -> None:
        record = self.folder / "record" / batch
        success = record / "_SUCCESS"
        if success.exists():
            return
        record.mkdir(parents=True, exist_ok=True)
        tasks = [task for task in self._tasks(record, first, last) if not task.path.exists()]
        if tasks:
            self._note(run_tasks(self.master, tasks))
        success.touch()

    def _tasks(self, record: Path, first: int, last: int) -> list[Task]:
        size = -(-self.seeds.per_batch // TASKS_PER_BATCH)
        model, topology = self.scenario.scenario, self.scenario.topology
        return [
            Task(model, topology, start, min(start + size - 1, last), record.absolute())
            for start in range(first, last + 1, size)
        ]

    def _note(self, done: list[Done]) -> None:
        """Crashes and bugs are told when they come up, and kept."""
        self.done += done
        name = self.scenario.scenario.scenario
        with (self.folder / "crashes.jsonl").open("a", encoding="utf-8") as file:
            for each in done:
                for seed, server, said in each.crashes:
                    row = {"seed": seed, "server": server, "said": said}
                    file.write(json.dumps(row) + "\n")
                    self.say(f"seed {seed}: {server} crashed: {said}; {replay_command(name, seed)}")
                for seed, said in each.bugs:
                    file.write(json.dumps({"seed": seed, "bug": said}) + "\n")
                    last = said.strip().splitlines()[-1]
                    self.say(f"seed {seed} cannot be simulated: {last}")

    def _own_codes(self) -> Iterator[int]:
        """Of crashes in this and in earlier sittings."""
        path = self.folder / "crashes.jsonl"
        for line in path.read_text("utf-8").splitlines() if path.exists() else []:
            yield GROUND_FAILED if "bug" in json.loads(line) else FAIL

    # -------------------------------------------------------------- telling

    def _is_judged(self, batch: str) -> bool:
        return (self.folder / "results" / f"{batch}.jsonl").exists()

    def _tell(self, finished: BatchJudged, progress: Progress) -> None:
        if not self.keep_records:
            shutil.rmtree(self.folder / "record" / finished.batch, ignore_errors=True)
        progress.count(finished)
        if finished.batch not in progress.earlier and finished.runs:
            name = self.scenario.scenario.scenario
            self.durations.note(finished.seconds / finished.runs, "judging a seed", name)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in finished.verdicts.items())
        self.say(
            f"{progress.judged} of {self.seeds.count} seeds; {finished.batch}: {counts}, "
            f"{progress.in_words(finished)}"
        )

    def _describe(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        plan = resolve(self.scenario.scenario, self.scenario.topology, self.seeds.first)
        described = {
            "version": 1,
            "scenario": plan.scenario,
            "first_seed": self.seeds.first,
            "seeds": self.seeds.count,
            "per_batch": self.seeds.per_batch,
            "origin": plan.clock.origin,
        }
        write_whole(self.folder / "sweep.json", json_text(described))
        write_whole(self.folder / "scenario.yaml", self.scenario.text)

    def _foretell(self) -> float:
        """Say how long it should take, and how that is known: one seed is simulated."""
        began = time.process_time()
        simulate(
            resolve(self.scenario.scenario, self.scenario.topology, self.seeds.first),
            keeps_inputs=False,
        )
        name = self.scenario.scenario.scenario
        judging = self.durations.expected("judging a seed", name)
        each = time.process_time() - began + judging
        seconds = each * self.seeds.count / max(1, os.cpu_count() or 1)
        self.say(
            f"{self.folder}: seeds {self.seeds.first} to "
            f"{self.seeds.first + self.seeds.count - 1}, about {span(seconds)} on this machine"
        )
        return seconds


def sweep_folder(runs: Path, scenario: CheckedScenario, seeds: Seeds) -> Path:
    """Where that sweep is kept: another place when anything that decides its outcome changed."""
    name = scenario.scenario.scenario
    mark = fingerprint(scenario, seeds)
    return runs / name / "sweeps" / f"{seeds.first}-{seeds.count}-{mark}"


def fingerprint(scenario: CheckedScenario, seeds: Seeds) -> str:
    """Of the plan and of the code that is run and judges."""
    plan = resolve(scenario.scenario, scenario.topology, seeds.first)
    digest = hashlib.sha256(f"{plan.to_line()}{seeds}".encode())
    for package in ("nodes", "lab", "spark_eval"):
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def replay_command(scenario: str, seed: int) -> str:
    return f"shadowlab run {scenario} --on simulator --seed {seed}"
