"""One scenario many times, and how stable it is: verdicts, claims, numbers, durations.

Each run is a program of its own, one at a time. What a run means is the evaluation's to say; here
its verdict.json is laid beside the others'.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from lab.campaigns.suite.program import SHADOWLAB, run_program
from lab.campaigns.suite.run import announced_folder, why
from lab.program.errors import GROUND_FAILED, INTERRUPTED, VERDICTS, worst
from lab.program.watchdog import Interrupted, Watchdog
from lab.run.history import read_object
from lab.run.judge import Judge
from lab.run.outcome import Say, say_to_stderr, span

LONGEST_SECONDS = 7200.0
NUMBERS = ("delivery", "promotion", "safety_net", "exposure")


@dataclass(frozen=True, slots=True)
class Repeated:
    """One of the runs. `told` is its verdict.json, empty where there is none."""

    seed: int
    code: int
    seconds: float
    folder: Path | None
    cause: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        return str(self.told.get("verdict", "none"))


@dataclass(frozen=True, slots=True)
class Repetition:
    """What is repeated: the words of `shadowlab run`, and the seed of each run. `judges`: in one
    session for all of them."""

    path: str
    seeds: Sequence[int]
    on: str | None = None
    program: Sequence[str] = SHADOWLAB
    say: Say = say_to_stderr
    judges: bool = False

    def run(self) -> tuple[list[Repeated], int]:
        """All of them, or as many as there were when a person ended it; the worst exit code."""
        done: list[Repeated] = []
        try:
            with (
                TemporaryDirectory(prefix="shadowlab-repeat-") as scratch,
                Watchdog(self.say),
                Judge(Path(scratch) / "judge.log", self.say) as judge,
            ):
                for number, seed in enumerate(self.seeds, 1):
                    found = self._one(Path(scratch), number, seed, judge)
                    done.append(found)
                    self.say(self._progress(number, found))
        except Interrupted as signal_name:
            self.say(f"ended by {signal_name}")
            return done, INTERRUPTED
        codes = [each.code if each.code in VERDICTS else GROUND_FAILED for each in done]
        return done, worst(codes)

    def _one(self, scratch: Path, number: int, seed: int, judge: Judge) -> Repeated:
        announcement, log = scratch / f"{number}.run", scratch / f"{number}.log"
        words = [*self.program, "run", self.path, "--seed", str(seed)]
        words += ["--announce", str(announcement), *(["--on", self.on] if self.on else [])]
        began = time.monotonic()
        environment = judge.environment() if self.judges else {}
        done = run_program(words, log, LONGEST_SECONDS, environment=environment)
        seconds = time.monotonic() - began
        folder = announced_folder(announcement)
        judged = folder is not None and done.code in VERDICTS
        told = read_object(folder / "verdict.json") if folder and judged else {}
        return Repeated(seed, done.code, seconds, folder, "" if judged else why(done, log), told)

    def _progress(self, number: int, found: Repeated) -> str:
        told = found.cause or found.verdict
        return f"{number} of {len(self.seeds)}: seed {found.seed}: {told}, {span(found.seconds)}"


def stability(done: Sequence[Repeated]) -> Iterator[str]:
    """The table: each run, then how often each verdict and each status of a claim, the numbers
    that differ, and the spread of durations."""
    for each in done:
        told = f"{each.verdict:<8}  seed {each.seed:<10}  {span(each.seconds):<9}"
        yield f"{told}  {each.folder or ''}  {each.cause}".rstrip()
    yield ""
    yield f"verdicts: {_counts(each.verdict for each in done)}"
    yield "claims:"
    yield from _claims([each for each in done if each.told])
    yield "numbers that differ:"
    yield from _numbers([each.told for each in done if each.told])
    yield f"durations: {_spread([each.seconds for each in done])}"


def _claims(done: Sequence[Repeated]) -> Iterator[str]:
    statuses: dict[str, list[str]] = {}
    for each in done:
        for claim in each.told.get("claims", []):
            statuses.setdefault(claim["name"], []).append(claim["status"])
    width = max((len(name) for name in statuses), default=0)
    for name, told in statuses.items():
        mark = "" if len(set(told)) == 1 else "  <- not stable"
        yield f"  {name:<{width}}  {_counts(told)}{mark}"


def _numbers(told: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    found: dict[str, list[float]] = {}
    for verdict in told:
        for part in NUMBERS:
            for name, value in _leaves(part, verdict.get(part)):
                found.setdefault(name, []).append(value)
    differing = {name: values for name, values in found.items() if len(set(values)) > 1}
    width = max((len(name) for name in differing), default=0)
    for name, values in differing.items():
        yield f"  {name:<{width}}  {min(values):g} .. {median(values):g} .. {max(values):g}"
    if not differing:
        yield "  none"


def _leaves(name: str, value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}", inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, value


def _counts(words: Any) -> str:
    """`9 pass, 1 fail`, the most frequent first."""
    return ", ".join(f"{number} {word}" for word, number in Counter(words).most_common()) or "none"


def _spread(seconds: Sequence[float]) -> str:
    if not seconds:
        return "none"
    least, most = min(seconds), max(seconds)
    return f"{span(least)} .. {span(median(seconds))} .. {span(most)}"
