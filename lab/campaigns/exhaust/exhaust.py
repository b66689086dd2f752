"""Every single fault of a small scenario, and pairs of them, simulated and judged.

    runs/<scenario>/exhaust/<seed>-<pairs>-<fingerprint>/

Batch by batch like a sweep, and like a sweep the same command goes on where an interrupted one
ended. exhaust.json says what was struck and what came of it. What a run means is not decided
here.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lab.campaigns.batches import Batch, Batches, Progress
from lab.campaigns.exhaust.pairs import Pairs
from lab.campaigns.exhaust.search import Search, Slice, StrikeTask
from lab.campaigns.exhaust.strikes import Strike, struck
from lab.campaigns.run import keeping_in
from lab.campaigns.simulating import simulating
from lab.campaigns.sweep.sweep import fingerprint_of
from lab.hosts.simulator.events import Events
from lab.program.ending import Interrupted
from lab.program.errors import GROUND_FAILED, worst
from lab.program.given_json import read_json
from lab.program.whole_file import write_whole
from lab.record.folder import json_text
from lab.record.links import refuse_links
from lab.run.outcome import RunOptions, Say, say_to_stderr
from lab.run.simulated import run_simulated

TASKS_PER_BATCH = 10
SHOWN = 5
COUNTED = "pairs.json"
RESULT = "exhaust.json"


@dataclass(slots=True)
class Exhaust:
    """`folder` is its own; `run` it once, in the main thread."""

    search: Search
    folder: Path
    master: str
    per_batch: int
    replay: Callable[[str], str]
    say: Say = say_to_stderr
    _codes: list[int] = field(default_factory=list)

    def run(self) -> int:
        """The exit code: the worst of all verdicts. Raises GroundError when Spark cannot do its
        work, ScenarioError where links lead out of the folder.
        """
        refuse_links(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        singles = [Slice(None, 0, len(self.search.singles))]
        try:
            self._go_through(singles, "single faults", 0)
            if self.search.pairs is not Pairs.none:
                self._go_through(self._pairs(), f"{self._which}pairs", 1)
        except (KeyboardInterrupt, Interrupted):
            self.say("hint: the same command goes on from here")
            raise
        return self._conclude(singles[0].high)

    @property
    def _which(self) -> str:
        return "relevant " if self.search.pairs is Pairs.relevant else ""

    def _go_through(self, slices: Sequence[Slice], noun: str, phase: int) -> None:
        runs = sum(each.high - each.low for each in slices)
        work = Batches(self.folder, self.master, Progress(runs), noun, self.replay, self.say)
        batches = (
            Batch(f"batch={phase}{number:05}", partial(self._tasks, some))
            for number, some in enumerate(cut(slices, self.per_batch))
        )
        for _ in work.go_through(batches):
            pass
        self._codes += work.codes()

    def _tasks(self, slices: Sequence[Slice]) -> list[StrikeTask]:
        keeping = keeping_in(self.folder.absolute())
        size = -(-sum(each.high - each.low for each in slices) // TASKS_PER_BATCH)
        return [StrikeTask(self.search, tuple(some), keeping) for some in cut(slices, size)]

    def _pairs(self) -> list[Slice]:
        """Every first fault that a second one may follow, with how many of them do."""
        path = self.folder / COUNTED
        if not path.exists():
            self.say(f"counting {self._which}pairs")
            firsts = range(len(self.search.singles))
            with simulating() as pool:
                counts = list(pool.map(partial(_followers, self.search), firsts, chunksize=8))
            write_whole(path, json.dumps(counts))
        return [Slice(n, 0, count) for n, count in enumerate(read_json(path)) if count]

    def _conclude(self, singles: int) -> int:
        results = list(self._results())
        told = [each for each in results if each["verdict"] != "pass"]
        pairs = sum("+" in each["run"] for each in results)
        asked = singles + (sum(each.high for each in self._pairs()) if pairs else 0)
        codes = [*self._codes, *(each["exit_code"] for each in results)]
        codes += [GROUND_FAILED] * (len(results) != asked)
        code = worst(codes)
        sentence = self._sentence(singles, pairs, Counter(each["verdict"] for each in results))
        content = {
            "version": 1,
            "scenario": self.search.plan.scenario,
            "seed": self.search.plan.seed,
            "exit_code": code,
            "said": sentence,
            "single_faults": singles,
            "pairs": pairs,
            "pairs_are": self.search.pairs.value,
            "not_passed": list(map(self._row, told)),
        }
        write_whole(self.folder / RESULT, json_text(content))
        print(sentence, *self._examples(told), f"all: {self.folder / RESULT}", sep="\n", flush=True)
        return code

    def _results(self) -> Iterator[dict[str, Any]]:
        for path in sorted((self.folder / "results").glob("batch=*.jsonl")):
            with path.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def _sentence(self, singles: int, pairs: int, verdicts: Counter[str]) -> str:
        """`all 130 single faults and all 4,533 relevant pairs: nothing lost`."""
        what = f"all {singles:,} single faults"
        if pairs:
            what += f" and all {pairs:,} {self._which}pairs"
        if set(verdicts) == {"pass"}:
            return f"{what}: nothing lost, no promise broken"
        counts = ", ".join(f"{count:,} {name}" for name, count in verdicts.most_common())
        return f"{what}: {counts}"

    def _examples(self, told: Sequence[dict[str, Any]]) -> Iterator[str]:
        for each in told[:SHOWN]:
            faults = "; then ".join(map(Strike.in_words, self.search.named(each["run"])))
            yield f"  {each['verdict']}: {faults}"
            yield from (f"      {reason}" for reason in each["reasons"])
            yield f"      {self.replay(each['run'])}"
        if len(told) > SHOWN:
            yield f"  and {len(told) - SHOWN:,} more"

    def _row(self, result: dict[str, Any]) -> dict[str, Any]:
        return {
            "run": result["run"],
            "verdict": result["verdict"],
            "reasons": result["reasons"],
            "replay": self.replay(result["run"]),
        }


def exhaust_folder(runs: Path, search: Search, per_batch: int) -> Path:
    """Where that search is kept: another place when anything that decides its outcome changed."""
    plan = search.plan
    mark = fingerprint_of(f"{plan.to_line()}{search.pairs}{per_batch}")
    return runs / plan.scenario / "exhaust" / f"{plan.seed}-{search.pairs.value}-{mark}"


def run_only(search: Search, strikes: Sequence[Strike], options: RunOptions) -> int:
    """One of its runs alone, to its run folder and verdict; the exit code."""
    plan, begin = struck(search.plan, strikes)
    return run_simulated(plan, options, events=Events(begin)).exit_code


def cut(slices: Sequence[Slice], size: int) -> Iterator[list[Slice]]:
    """The same in parts of `size` faults, the last one smaller."""
    part: list[Slice] = []
    room = size
    for each in slices:
        low = each.low
        while low < each.high:
            high = min(each.high, low + room)
            part.append(Slice(each.first, low, high))
            room, low = room - (high - low), high
            if room == 0:
                yield part
                part, room = [], size
    if part:
        yield part


def _followers(search: Search, first: int) -> int:
    return len(search.seconds(search.singles[first]))
