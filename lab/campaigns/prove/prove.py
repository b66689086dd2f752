"""A proof: every defect of the catalogue in the scenario that must show it, judged as any run is.

    runs/proofs/<UTC date and time>/

Each defect is simulated under some seeds by processes of their own, and judged there, and sound
nodes under the same seeds. A run that is not as it must be leaves its run folder: one of sound
nodes that does not pass, one with a defect that what must catch it passes. What it comes to is in
prove.json. Nothing is decided here but what to ask.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from defects.defect import Defect
from lab.campaigns.batches import write_results
from lab.campaigns.prove.choice import seeds_of
from lab.campaigns.prove.task import SOUND, DefectTask, is_not_caught
from lab.campaigns.prove.verdict import Proof, Runs, content, finding, proof, soundness
from lab.campaigns.run import Keeping, Result, is_no_pass
from lab.campaigns.simulating import simulating
from lab.campaigns.task import Done, carry_out
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
"""Runs whose results are written together."""
STEP, SMALL = "proving a run", "proving a few runs"
FEW = 50
"""Runs that wait for what is loaded above all: how long they take says nothing of many."""

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
    say: Say = say_to_stderr
    durations: Durations = field(default_factory=lambda: Durations(RUNS))
    results: dict[str, Result] = field(default_factory=dict)
    crashes: dict[str, str] = field(default_factory=dict)

    def run(self) -> Proof:
        """Raises GroundError."""
        batches = list(self._batches())
        tasks = [task for _, batch in batches for task in batch]
        runs = sum(len(task.plans) for task in tasks)
        about = expected(self.durations, runs)
        self.say(f"{self.folder}: {len(self.defects)} defects, {runs} runs, about {span(about)}")
        began = time.monotonic()
        try:
            with waiting("proving", about):
                self._all(batches, runs)
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
            batch.append(self._task(defect, scenario, seeds))
        yield name, batch

    def _task(self, defect: str, scenario: str, seeds: range) -> DefectTask:
        checked = self.scenarios[scenario]
        plans = (resolve(checked.scenario, checked.topology, seed) for seed in seeds)
        return DefectTask(defect, tuple(plans), self._keeping(defect, checked.text))

    def _keeping(self, name: str, scenario: str) -> Keeping | None:
        """Most runs of a rare defect show nothing of it, and are as they must be."""
        runs = self.folder.absolute() / "runs"
        if name == SOUND:
            return Keeping(runs, scenario, is_no_pass)
        (defect,) = (each for each in self.defects if each.name == name)
        if defect.is_rare or defect.not_caught:
            return None
        return Keeping(runs, scenario, partial(is_not_caught, defect.claims))

    def _all(self, batches: Sequence[Batch], runs: int) -> None:
        with simulating() as pool:
            began = time.monotonic()
            for name, futures in [(name, _submitted(pool, batch)) for name, batch in batches]:
                results = self._wait(futures)
                write_results(self.folder, name, results)
                self.results.update((each["run"], each) for each in results)
                now = time.monotonic()
                self.say(
                    f"{len(self.results)} of {runs} runs judged, {name} in {now - began:.0f} s"
                )
                began = now

    def _wait(self, futures: Sequence[Future[Done]]) -> list[Result]:
        """Raises GroundError."""
        results: list[Result] = []
        try:
            for future in futures:
                done = future.result()
                self.crashes.update(
                    (run, f"{server}: {said}") for run, server, said in done.crashes
                )
                results += done.results
        except BrokenProcessPool as error:
            hint = "memory may have run out; a name or two proves less at a time"
            raise GroundError("a process that simulates was killed", hint) from error
        return results

    def _proof(self, tasks: Sequence[DefectTask]) -> Proof:
        runs = {(task.defect, task.plans[0].scenario): self._runs_of(task) for task in tasks}
        return proof(
            (finding(each, runs[(each.name, each.scenario)]) for each in self.defects),
            (soundness(runs[(SOUND, name)]) for name in self.scenarios),
        )

    def _runs_of(self, task: DefectTask) -> Runs:
        names = task.names()
        found = [self.results[name] for name in names if self.results[name]["claims"]]
        bugs = {
            name: self.results[name]["reasons"][0]
            for name in names
            if not self.results[name]["claims"]
        }
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
