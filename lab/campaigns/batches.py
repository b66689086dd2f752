"""Batches of simulated runs: spread by Spark, judged where they are simulated, counted here.

The results of a batch are a file, whole or not there at all; what has it already is not done again.
"""

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.campaigns.run import Result, last_line
from lab.campaigns.sweep.executors import run_tasks
from lab.campaigns.task import Done, Task
from lab.program.errors import FAIL, GROUND_FAILED, VERDICTS, WORST_FIRST, GroundError
from lab.program.whole_file import write_whole
from lab.run.outcome import Say, span

CRASHES = "crashes.jsonl"
RECENT = 5
"""Batches by which it is said how long the others will take."""
NAMES = VERDICTS | {GROUND_FAILED: "crashed"}


@dataclass(frozen=True, slots=True)
class Batch:
    """`name`: `batch=00000`; its own `tasks`."""

    name: str
    tasks: Callable[[], Sequence[Task]]


@dataclass(frozen=True, slots=True)
class BatchJudged:
    """`verdicts`: how many runs had which, the worst first."""

    batch: str
    runs: int
    seconds: float
    verdicts: Mapping[str, int]


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

    def go_through(self, batches: Iterable[Batch]) -> Iterator[BatchJudged]:
        """Raises GroundError when Spark cannot do its work."""
        self.progress.begin()
        for batch in batches:
            began = time.monotonic()
            path = results_of(self.folder, batch.name)
            if path.exists():
                self.progress.earlier.add(batch.name)
            else:
                self.carry_out(batch)
            codes = Counter(_exit_codes(path))
            counts = {NAMES[code]: codes[code] for code in WORST_FIRST if codes[code]}
            seconds = time.monotonic() - began
            yield self._told(BatchJudged(batch.name, codes.total(), seconds, counts))

    def codes(self) -> Iterator[int]:
        """Of crashes in this and in earlier sittings."""
        path = self.folder / CRASHES
        for line in path.read_text("utf-8").splitlines() if path.exists() else []:
            yield GROUND_FAILED if "bug" in json.loads(line) else FAIL

    def carry_out(self, batch: Batch) -> None:
        """Raises GroundError."""
        tasks = batch.tasks()
        done = run_tasks(self.master, tasks) if tasks else []
        self._note(done)
        write_results(self.folder, batch.name, [row for each in done for row in each.results])

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
                    self.say(f"{name} cannot be simulated: {last_line(said)}")

    def _told(self, finished: BatchJudged) -> BatchJudged:
        self.progress.count(finished)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in finished.verdicts.items())
        self.say(
            f"{self.progress.judged} of {self.progress.runs} {self.noun}; {finished.batch}: "
            f"{counts}, {self.progress.in_words(finished)}"
        )
        return finished


def results_of(folder: Path, batch: str) -> Path:
    return folder / "results" / f"{batch}.jsonl"


def write_results(folder: Path, batch: str, results: Iterable[Result]) -> None:
    """In order of seeds. Raises OSError."""
    path = results_of(folder, batch)
    path.parent.mkdir(exist_ok=True)
    ordered = sorted(results, key=lambda each: (each["seed"], each["run"]))
    lines = (json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in ordered)
    write_whole(path, "".join(f"{line}\n" for line in lines))


def _exit_codes(path: Path) -> Iterator[int]:
    """Raises GroundError."""
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["exit_code"]
    except (ValueError, KeyError, TypeError) as error:
        hint = "remove it; its batch is simulated and judged again"
        cause = f"{path}: is not what a campaign leaves there: {error!r}"
        raise GroundError(cause, hint) from error
