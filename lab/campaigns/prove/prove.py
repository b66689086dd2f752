"""A proof: every defect of the catalogue in the scenario that must show it, judged as any run is.

    runs/proofs/<UTC date and time>/

Each defect is simulated under some seeds by processes of their own, and sound nodes under the same
seeds; the evaluation judges all of it in a few batches while the next are simulated. What it comes
to is in prove.json. Nothing is decided here but what to ask.
"""

import json
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from defects.defect import Defect
from lab.campaigns.prove.choice import seeds_of
from lab.campaigns.prove.task import SOUND, DefectTask, Done, carry_out
from lab.campaigns.prove.verdict import Proof, Result, Runs, content, finding, proof, soundness
from lab.campaigns.simulating import simulating
from lab.campaigns.sweep.judge import BatchJudged, SweepJudge
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.program.ending import Interrupted
from lab.program.errors import GroundError
from lab.program.progress import waiting
from lab.program.whole_file import write_whole
from lab.record.folder import json_text
from lab.run.durations import Durations
from lab.run.outcome import Say, say_to_stderr, span
from lab.validation.library import RUNS
from lab.validation.validate import CheckedScenario

PROOFS = "proofs"
PER_BATCH = 100
"""Runs of whole scenarios: 250 fill 2 GiB, all that a sweep has on a small machine."""
ORIGIN = "2026-01-05T08:00:00Z"
STEP, SMALL = "proving a run", "proving a few runs"
FEW = 50
"""Runs that wait for Spark above all: how long they take says nothing of many."""

Batch = tuple[str, list[DefectTask]]


def expected(durations: Durations, runs: int) -> float:
    """Seconds that a proof of so many runs may take."""
    few = durations.expected(SMALL)
    return few if runs < FEW else few + runs * durations.expected(STEP)


def note(durations: Durations, runs: int, seconds: float) -> None:
    """A proof of so many runs took so long."""
    if runs < FEW:
        durations.note(seconds, SMALL)
    else:
        durations.note((seconds - durations.expected(SMALL)) / runs, STEP)


@dataclass(slots=True)
class Proving:
    """One proof into `folder`, which is empty; `run` it once. `scenarios` by name are those of the
    defects; `seeds` is for each defect how many.
    """

    defects: Sequence[Defect]
    scenarios: Mapping[str, CheckedScenario]
    seeds: int
    folder: Path
    master: str
    say: Say = say_to_stderr
    durations: Durations = field(default_factory=lambda: Durations(RUNS))
    results: dict[str, Result] = field(default_factory=dict)
    crashes: dict[str, str] = field(default_factory=dict)
    bugs: dict[str, str] = field(default_factory=dict)

    def run(self) -> Proof:
        """Raises GroundError."""
        batches = list(self._batches())
        tasks = [task for _, batch in batches for task in batch]
        runs = sum(len(task.plans) for task in tasks)
        about = expected(self.durations, runs)
        self.say(f"{self.folder}: {len(self.defects)} defects, {runs} runs, about {span(about)}")
        self._describe(min(PER_BATCH, runs))
        began = time.monotonic()
        try:
            with waiting("proving", about), SweepJudge(self.folder, master=self.master) as judge:
                self._all(batches, runs, judge)
        except (KeyboardInterrupt, Interrupted):
            self.say(f"hint: {len(self.results)} of {runs} runs are judged; nothing is proven")
            raise
        note(self.durations, runs, time.monotonic() - began)
        made = self._proof(tasks)
        write_whole(self.folder / "prove.json", json_text(content(made)))
        return made

    def _asked(self) -> Iterator[tuple[str, str, range]]:
        """Sound nodes first, since their failure concerns every defect."""
        for name in self.scenarios:
            seeds = [seeds_of(each, self.seeds) for each in self.defects if each.scenario == name]
            yield SOUND, name, range(min(s.start for s in seeds), max(s.stop for s in seeds))
        for defect in self.defects:
            yield defect.name, defect.scenario, seeds_of(defect, self.seeds)

    def _batches(self) -> Iterator[Batch]:
        name, batch = f"batch={0:05}", list[DefectTask]()
        for number, (defect, scenario, seeds) in enumerate(self._asked()):
            if batch and sum(len(task.plans) for task in batch) + len(seeds) > PER_BATCH:
                yield name, batch
                name, batch = f"batch={number:05}", []
            file = self._record(name) / f"{number}.parquet"
            batch.append(DefectTask(defect, self._plans(scenario, seeds), file))
        yield name, batch

    def _plans(self, scenario: str, seeds: range) -> tuple[Plan, ...]:
        checked = self.scenarios[scenario]
        return tuple(resolve(checked.scenario, checked.topology, seed) for seed in seeds)

    def _record(self, batch: str) -> Path:
        return self.folder.absolute() / "record" / batch

    def _describe(self, per_batch: int) -> None:
        about = {"version": 1, "scenario": PROOFS, "first_seed": 0, "seeds": 0}
        text = json_text({**about, "per_batch": per_batch, "origin": ORIGIN})
        write_whole(self.folder / "sweep.json", text)

    def _all(self, batches: Sequence[Batch], runs: int, judge: SweepJudge) -> None:
        """Simulate on while a batch is judged."""
        for name, _ in batches:
            self._record(name).mkdir(parents=True)
        with simulating() as pool:
            under_way = [(name, _submitted(pool, batch)) for name, batch in batches]
            for name, futures in under_way:
                self._wait(futures)
                (self._record(name) / "_SUCCESS").touch()
                self._take(judge.next_judged(name), runs)
            while (judged := judge.next_judged(None)) is not None:
                self._take(judged, runs)

    def _wait(self, futures: Sequence[Future[Done]]) -> None:
        try:
            for future in futures:
                done = future.result()
                self.crashes.update(done.crashes)
                self.bugs.update(done.bugs)
        except BrokenProcessPool as error:
            hint = "memory may have run out; a name or two proves less at a time"
            raise GroundError("a process that simulates was killed", hint) from error

    def _take(self, judged: BatchJudged | None, runs: int) -> None:
        if judged is None:
            return
        path = self.folder / "results" / f"{judged.batch}.jsonl"
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            self.results[row["run"]] = row
        shutil.rmtree(self._record(judged.batch), ignore_errors=True)
        self.say(
            f"{len(self.results)} of {runs} runs judged, {judged.batch} in {judged.seconds:.0f} s"
        )

    def _proof(self, tasks: Sequence[DefectTask]) -> Proof:
        runs = {(task.defect, task.plans[0].scenario): self._runs_of(task) for task in tasks}
        return proof(
            (finding(each, runs[(each.name, each.scenario)]) for each in self.defects),
            (soundness(runs[(SOUND, name)]) for name in self.scenarios),
        )

    def _runs_of(self, task: DefectTask) -> Runs:
        names = task.runs()
        found = [self.results[name] for name in names if name in self.results]
        bugs = {name: "no result" for name in names if name not in self.results} | self.bugs
        seeds = range(task.plans[0].seed, task.plans[-1].seed + 1)
        scenario = task.plans[0].scenario
        return Runs(scenario, seeds, found, _of(names, self.crashes), _of(names, bugs))


def _of(names: Iterable[str], said: Mapping[str, str]) -> list[str]:
    return [f"{name}: {said[name]}" for name in names if name in said]


def _submitted(pool: Executor, batch: Sequence[DefectTask]) -> list[Future[Done]]:
    return [pool.submit(carry_out, task) for task in batch]


def new_folder(runs: Path, now: datetime) -> Path:
    """`now` in UTC; made here."""
    folder = runs / PROOFS / f"{now:%Y%m%dT%H%M%SZ}"
    folder.mkdir(parents=True)
    return folder
