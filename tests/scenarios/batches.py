"""Simulated runs of sound and of broken nodes, judged together as batches of a sweep."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lab.campaigns.shrink.trial import Trial
from lab.campaigns.sweep.task import Lines, Run, files_of
from lab.hosts.simulator.simulation import simulate
from lab.record.folder import json_text
from tests.scenarios.judging import CASES

ROOT = Path(__file__).parents[2]
AT_ONCE = 600
ORIGIN = "2026-01-05T08:00:00Z"
Result = dict[str, Any]
"""As a sweep keeps one: `verdict`, `reasons`, `foretold`, `claims`, …"""
Record = tuple[int, Iterable[tuple[str, list[str]]]]
"""The seed of a run, and the lines of each of its files."""


def run_of(trial: Trial) -> Run:
    plan = trial.plan()
    return Run(
        f"seed {trial.seed}", plan.scenario, plan, partial(simulate, plan, keeps_inputs=False)
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """`results` by name of a set, in the order of its runs; each run is named `<set>/<number>` in
    `lines`, a glob of Parquet files as a sweep writes them, and in `cases`, a folder of such files
    (claim, run, subject, status).
    """

    results: dict[str, list[Result]]
    lines: str
    cases: Path


class Batches:
    """`folder` is empty. Add as many sets of runs as there are, then judge once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sizes: dict[str, int] = {}
        self._names = list[str]()
        self._room = 0

    def simulate(self, name: str, runs: Iterable[Run]) -> None:
        """In this process, so that a node that is broken in it is the one that is simulated."""
        self.add(name, ((run.plan.seed, files_of(run.plan, run.simulate())) for run in runs))

    def add(self, name: str, records: Iterable[Record]) -> None:
        assert name not in self._sizes
        lines, count = Lines(), 0
        for count, (seed, files) in enumerate(records, start=1):
            for file, texts in files:
                lines.add(f"{name}/{count - 1}", seed, file, texts)
        lines.write(self._batch(count) / f"{len(self._sizes)}.parquet")
        self._sizes[name] = count

    def _batch(self, count: int) -> Path:
        """The folder of one that has room for so many runs more."""
        if not self._names or self._room < count:
            self._names.append(f"batch={len(self._names):05}")
            self._room = AT_ONCE
        self._room -= count
        folder = self._folder / "record" / self._names[-1]
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def judge(self) -> Judged:
        runs = sum(self._sizes.values())
        about = {"version": 1, "scenario": "trials", "first_seed": 0, "seeds": 0}
        content = json_text({**about, "per_batch": min(runs, AT_ONCE), "origin": ORIGIN})
        (self._folder / "sweep.json").write_text(content)
        for name in self._names:
            (self._folder / "record" / name / "_SUCCESS").touch()
        command = [sys.executable, "-m", "tests.scenarios.judging", str(self._folder)]
        subprocess.run(command, cwd=ROOT, check=True)
        found = {row["run"]: row for row in self._results()}
        by_set = {
            name: [found[f"{name}/{number}"] for number in range(size)]
            for name, size in self._sizes.items()
        }
        return Judged(by_set, f"{self._folder}/record/*/*.parquet", self._folder / CASES)

    def _results(self) -> Iterator[Result]:
        for name in self._names:
            lines = (self._folder / "results" / f"{name}.jsonl").read_text("utf-8").splitlines()
            yield from map(json.loads, lines)


def violated(result: Result) -> frozenset[str]:
    """Names of claims."""
    return frozenset(each["name"] for each in result["claims"] if each["status"] == "violated")
