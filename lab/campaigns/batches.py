"""Batches of simulated runs, spread by Spark and judged one after another.

A batch is simulated by tasks that each write one Parquet file, then judged by the evaluation, a
program of its own that goes on beside the next batch; its record is then let go, so that any number
of runs needs the room of a few batches. What is done already is not done again.
"""

import json
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.campaigns.sweep.executors import run_tasks
from lab.campaigns.sweep.judge import BatchJudged, SweepJudge
from lab.campaigns.sweep.task import Done, Task
from lab.program.errors import FAIL, GROUND_FAILED
from lab.run.outcome import Say, span

CRASHES = "crashes.jsonl"
RECENT = 5
"""Batches by which it is said how long the others will take."""


@dataclass(frozen=True, slots=True)
class Batch:
    """`name`: `batch=00000`; `tasks` are its own, for the folder that its record is written to."""

    name: str
    tasks: Callable[[Path], Sequence[Task]]


@dataclass(slots=True)
class Progress:
    """How far it is. `earlier` names batches of another sitting: they took no time in this."""

    runs: int
    clock: Callable[[], float] = time.monotonic
    earlier: set[str] = field(default_factory=set)
    judged: int = 0
    judged_now: int = 0
    marks: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=RECENT + 1))

    def begin(self) -> None:
        """The first batch is about to be simulated: what is left is expected from here, and later
        by the last few batches alone, since the first ones take longer.
        """
        self.marks.append((self.clock(), 0))

    def count(self, finished: BatchJudged) -> None:
        self.judged += finished.runs
        if finished.batch not in self.earlier:
            self.judged_now += finished.runs
            self.marks.append((self.clock(), self.judged_now))

    def in_words(self, finished: BatchJudged) -> str:
        """`judged in 36 s; about 51:44 min left`."""
        if finished.batch in self.earlier:
            return "judged before"
        (since, had), (now, have) = self.marks[0], self.marks[-1]
        seconds = (now - since) / (have - had) * (self.runs - self.judged)
        return f"judged in {finished.seconds:.0f} s; about {span(seconds)} left"


@dataclass(slots=True)
class Batches:
    """`noun` is what messages call the runs, `seeds`; `replay` the command that shows the run of a
    name. `folder` is that of a sweep.
    """

    folder: Path
    master: str
    progress: Progress
    noun: str
    replay: Callable[[str], str]
    say: Say
    keep_records: bool = False

    def go_through(self, batches: Iterable[Batch], judge: SweepJudge) -> Iterator[BatchJudged]:
        """Simulate a batch while the one before it is judged. Raises GroundError when Spark or the
        evaluation cannot do their work.
        """
        self.progress.begin()
        for batch in batches:
            if self._is_judged(batch.name):
                self.progress.earlier.add(batch.name)
            else:
                self.simulate(batch)
            finished = judge.next_judged(batch.name)
            if finished is not None:
                yield self._told(finished)
        while (finished := judge.next_judged(None)) is not None:
            yield self._told(finished)

    def codes(self) -> Iterator[int]:
        """Of crashes in this and in earlier sittings."""
        path = self.folder / CRASHES
        for line in path.read_text("utf-8").splitlines() if path.exists() else []:
            yield GROUND_FAILED if "bug" in json.loads(line) else FAIL

    def is_earlier(self, finished: BatchJudged) -> bool:
        return finished.batch in self.progress.earlier

    def _is_judged(self, batch: str) -> bool:
        return (self.folder / "results" / f"{batch}.jsonl").exists()

    def simulate(self, batch: Batch) -> None:
        """Unless its record is whole already. Raises GroundError."""
        record = self.folder / "record" / batch.name
        success = record / "_SUCCESS"
        if success.exists():
            return
        record.mkdir(parents=True, exist_ok=True)
        tasks = [task for task in batch.tasks(record.absolute()) if not task.path.exists()]
        if tasks:
            self._note(run_tasks(self.master, tasks))
        success.touch()

    def _note(self, done: Sequence[Done]) -> None:
        """Crashes and bugs are reported when they come up, and kept."""
        with (self.folder / CRASHES).open("a", encoding="utf-8") as file:
            for each in done:
                for name, server, said in each.crashes:
                    row = {"of": name, "server": server, "said": said}
                    file.write(json.dumps(row) + "\n")
                    self.say(f"{name}: {server} crashed: {said}; {self.replay(name)}")
                for name, said in each.bugs:
                    file.write(json.dumps({"of": name, "bug": said}) + "\n")
                    last = said.strip().splitlines()[-1]
                    self.say(f"{name} cannot be simulated: {last}")

    def _told(self, finished: BatchJudged) -> BatchJudged:
        if not self.keep_records:
            shutil.rmtree(self.folder / "record" / finished.batch, ignore_errors=True)
        self.progress.count(finished)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in finished.verdicts.items())
        self.say(
            f"{self.progress.judged} of {self.progress.runs} {self.noun}; {finished.batch}: "
            f"{counts}, {self.progress.in_words(finished)}"
        )
        return finished
