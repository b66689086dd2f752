"""Many seeds of one scenario, simulated and judged on Spark's executors, batch by batch.

    runs/<scenario>/sweeps/<first>-<count>-<fingerprint>/

The same command goes on where an interrupted one ended, unless the scenario or the code have
changed, which the fingerprint shows. What a run means is not decided here.
"""

import hashlib
import json
import os
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lab.campaigns.batches import Batch, Batches, Progress
from lab.campaigns.run import always, carry, is_no_pass, keeping_in
from lab.campaigns.sweep.asked_coverage import kinds_asked, settings_asked
from lab.campaigns.sweep.conclusion import conclude
from lab.campaigns.sweep.task import SeedTask
from lab.campaigns.sweep.toward import Toward
from lab.campaigns.sweep.toward_coverage import CANDIDATES, Choice
from lab.planning.resolve import resolve
from lab.program.ending import Interrupted
from lab.program.errors import worst
from lab.program.progress import waiting
from lab.program.sources import ROOT
from lab.program.whole_file import write_whole
from lab.record.folder import json_text
from lab.record.links import refuse_links
from lab.run.outcome import Say, say_to_stderr, span
from lab.validation.validate import CheckedScenario

TASKS_PER_BATCH = 50
"""Short ones, so that no core waits long for the last."""


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

    def candidates(self, first: int, last: int) -> range:
        """Among which the seeds of a batch are chosen that would have these; no two batches share
        any.
        """
        start = self.first + (first - self.first) * CANDIDATES
        return range(start, start + (last - first + 1) * CANDIDATES)


@dataclass(slots=True)
class Sweep:
    """One sweep into `folder`; `run` it once, in the main thread."""

    scenario: CheckedScenario
    seeds: Seeds
    folder: Path
    master: str
    say: Say = say_to_stderr
    keep_records: bool = False
    toward: Toward | None = None
    work: Batches = field(init=False)

    def __post_init__(self) -> None:
        name = self.scenario.scenario.scenario
        self.work = Batches(
            self.folder,
            self.master,
            Progress(self.seeds.count),
            "seeds",
            lambda seed: replay_command(name, seed.removeprefix("seed ")),
            self.say,
        )

    def run(self) -> int:
        """The exit code: the worst of what the evaluation says and of what came up on the way. It
        is described already.

        Raises GroundError when Spark or the evaluation cannot do their work.
        """
        about = self._predict()
        try:
            with waiting("sweeping", about):
                for _ in self.work.go_through(self.batches()):
                    pass
                code, said = conclude(self.folder)
            print(said, flush=True)
        except (KeyboardInterrupt, Interrupted):
            self.say("hint: the same command goes on from here")
            raise
        return worst([code, *self.work.codes()])

    def batches(self) -> Iterator[Batch]:
        choice = Choice(self.scenario)
        for name, first, last in self.seeds.batches():
            seeds: Sequence[int] = range(first, last + 1)
            if self.toward is Toward.coverage:
                seeds = choice.choose(self.seeds.candidates(first, last), len(seeds))
                (self.folder / "seeds").mkdir(exist_ok=True)
                write_whole(self.folder / "seeds" / f"{name}.json", f"{json.dumps(list(seeds))}\n")
            yield Batch(name, partial(self._tasks, seeds=seeds))

    def _tasks(self, seeds: Sequence[int]) -> list[SeedTask]:
        keeps = always if self.keep_records else is_no_pass
        keeping = keeping_in(self.folder.absolute(), self.scenario.text, keeps)
        size = -(-self.seeds.per_batch // TASKS_PER_BATCH)
        return [
            SeedTask(
                self.scenario.scenario,
                self.scenario.topology,
                tuple(seeds[start : start + size]),
                keeping,
                self._settings,
            )
            for start in range(0, len(seeds), size)
        ]

    @property
    def _settings(self) -> dict[str, Any]:
        return settings_asked(self.scenario.scenario, self.scenario.topology)

    def describe(self) -> None:
        """Raises ScenarioError where links lead out of its folder."""
        refuse_links(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        plan = resolve(self.scenario.scenario, self.scenario.topology, self.seeds.first)
        described = {
            "version": 1,
            "scenario": plan.scenario,
            "first_seed": self.seeds.first,
            "seeds": self.seeds.count,
            "per_batch": self.seeds.per_batch,
            "origin": plan.clock.origin,
            "settings": self._settings,
            "kinds": kinds_asked(self.scenario.scenario, self.scenario.topology),
        }
        write_whole(self.folder / "sweep.json", json_text(described))
        write_whole(self.folder / "scenario.yaml", self.scenario.text)

    def _predict(self) -> float:
        """Say how long it should take, and how that is known: one seed is simulated and judged."""
        began = time.process_time()
        model, topology = self.scenario.scenario, self.scenario.topology
        for run in SeedTask(model, topology, (self.seeds.first,)).runs():
            carry(run)
        each = time.process_time() - began
        seconds = each * self.seeds.count / max(1, os.cpu_count() or 1)
        last = self.seeds.first + self.seeds.count - 1
        which = f"seeds {self.seeds.first} to {last}"
        if self.toward is Toward.coverage:
            among = self.seeds.candidates(self.seeds.first, last)
            which = f"{self.seeds.count} seeds chosen from {among[0]} to {among[-1]}"
        self.say(f"{self.folder}: {which}, about {span(seconds)} on this machine")
        return seconds


def sweep_all(sweeps: Sequence[Sweep]) -> int:
    """One after another, in one session; the worst exit code. `master` is one and the same.

    Raises GroundError when Spark or the evaluation cannot do their work.
    """
    for each in sweeps:
        each.describe()
    return worst([each.run() for each in sweeps])


def sweep_folder(
    runs: Path, scenario: CheckedScenario, seeds: Seeds, toward: Toward | None = None
) -> Path:
    """Where that sweep is kept: another place when anything that decides its outcome changed."""
    name = scenario.scenario.scenario
    mark = fingerprint(scenario, seeds) + (f"-{toward.value}" if toward else "")
    return runs / name / "sweeps" / f"{seeds.first}-{seeds.count}-{mark}"


def fingerprint(scenario: CheckedScenario, seeds: Seeds) -> str:
    plan = resolve(scenario.scenario, scenario.topology, seeds.first)
    return fingerprint_of(f"{plan.to_line()}{seeds}")


def fingerprint_of(asked: str) -> str:
    """Of what is asked, and of the code that is run and judges."""
    digest = hashlib.sha256(asked.encode())
    for package in ("nodes", "lab", "spark_eval"):
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def replay_command(scenario: str, seed: str) -> str:
    return f"shadowlab run {shlex.quote(scenario)} --on simulator --seed {seed}"
