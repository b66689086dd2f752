"""Simulated runs of sound and of broken nodes, judged set by set in processes beside this one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.campaigns.run import Result, Run, files_of
from lab.campaigns.shrink.trial import Trial
from lab.campaigns.simulating import simulating
from lab.hosts.simulator.record_in_memory import file_bytes
from lab.hosts.simulator.simulation import simulate
from tests.scenarios.digests import digest
from tests.scenarios.judging import JudgedCase, JudgedSet, judged_set
from tests.scenarios.recorded import Files


def run_of(trial: Trial) -> Run:
    plan = trial.plan()
    return Run(f"seed {trial.seed}", plan.scenario, plan, partial(simulate, plan))


@dataclass(frozen=True, slots=True)
class Judged:
    """`results` and `digests` of records by name of a set, in the order of its runs; `differences`,
    in what the first of them is judged otherwise in parts. Each run is named `<set>/<number>` in
    `cases`, and in `lines`, a glob of Parquet files as DuckDB reads them.
    """

    results: dict[str, list[Result]]
    digests: dict[str, list[str]]
    differences: dict[str, list[str]]
    cases: list[JudgedCase]
    lines: str


class Batches:
    """Add as many sets of runs as there are, then ask for all. See `judging`."""

    def __init__(self, folder: Path, pool: Executor) -> None:
        self._folder = folder
        self._pool = pool
        self._sets: dict[str, Future[JudgedSet]] = {}
        self._digests: dict[str, list[str]] = {}

    def simulate(self, name: str, runs: Iterable[Run]) -> None:
        """In this process, so that a node that is broken in it is the one that is simulated."""
        self.add(name, ((run.plan.seed, _recorded(run)) for run in runs))

    def add(self, name: str, records: Iterable[tuple[int, Files]]) -> None:
        """Seeds and files."""
        assert name not in self._sets
        path = self._folder / f"{len(self._sets)}.parquet"
        written = [(seed, _bytes(files)) for seed, files in records]
        self._digests[name] = [digest(files) for _, files in written]
        self._sets[name] = self._pool.submit(judged_set, name, written, path)

    def judged(self) -> Judged:
        found = {name: future.result() for name, future in self._sets.items()}
        return Judged(
            {name: each.results for name, each in found.items()},
            self._digests,
            {name: each.differences for name, each in found.items()},
            [case for each in found.values() for case in each.cases],
            f"{self._folder}/*.parquet",
        )


@contextmanager
def batches_in(folder: Path) -> Iterator[Batches]:
    """`folder` is empty."""
    with simulating() as pool:
        yield Batches(folder, pool)


def violated(result: Result) -> frozenset[str]:
    """Names of claims."""
    return frozenset(each["name"] for each in result["claims"] if each["status"] == "violated")


def _bytes(files: Files) -> dict[str, bytes]:
    """Which go to another process quickly."""
    return {file: file_bytes(texts) for file, texts in files.items()}


def _recorded(run: Run) -> Files:
    return dict(files_of(run.plan, run.simulate(keeps_inputs=False)))
