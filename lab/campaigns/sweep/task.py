"""A task of a sweep, on whatever executor it lands: simulate some runs, write their records.

The record of each run becomes lines (run, seed, file, line, text, fields) of one Parquet file,
which is there whole or not at all, so a task that was lost is simply done again. Inputs of cores
are left out: `shadowlab run … --seed` has them. Nothing is judged here.
"""

import json
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from lab.hosts.simulator.random_delays import CLOCK_RESOLUTION_MS
from lab.hosts.simulator.record_in_memory import FIELDS, RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.program.whole_file import whole_file
from lab.record.first_files import Identity, manifest
from lab.run.simulated import SIMULATOR, run_name
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel

LINES = pa.schema(
    [
        ("run", pa.dictionary(pa.int32(), pa.string())),
        ("seed", pa.int64()),
        ("file", pa.dictionary(pa.int32(), pa.string())),
        ("line", pa.int32()),
        ("text", pa.string()),
        ("fields", pa.dictionary(pa.int32(), pa.string())),
    ]
)


@dataclass(frozen=True, slots=True)
class Run:
    """A run that a task is to simulate: what a person calls it, its name in the record, its plan.

    `simulate` gives the record without the inputs of cores.
    """

    called: str
    name: str
    plan: Plan
    simulate: Callable[[], RecordInMemory]


class Task(Protocol):
    """Runs, written to `path`. It goes to an executor by pickle."""

    @property
    def path(self) -> Path: ...

    def runs(self) -> Iterator[Run]: ...


@dataclass(frozen=True, slots=True)
class SeedTask:
    """Some seeds of a scenario, in order, written below `folder`."""

    scenario: ScenarioModel
    topology: TopologyModel
    seeds: tuple[int, ...]
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / f"part-{self.seeds[0]}-{self.seeds[-1]}.parquet"

    def runs(self) -> Iterator[Run]:
        for seed in self.seeds:
            plan = resolve(self.scenario, self.topology, seed)
            record = partial(simulate, plan, keeps_inputs=False)
            yield Run(f"seed {seed}", run_name(plan), plan, record)


@dataclass(frozen=True, slots=True)
class Done:
    """What a task did. `crashes`: (what the run is called, server, the last line of its traceback);
    `bugs`: (what the run is called, traceback) of runs that could not be simulated at all."""

    runs: int
    lab_ms: int
    cpu_seconds: float
    crashes: tuple[tuple[str, str, str], ...]
    bugs: tuple[tuple[str, str], ...]


class Lines:
    """The columns of a file in the making."""

    def __init__(self) -> None:
        self._columns: dict[str, list[object]] = {name: [] for name in LINES.names}

    def add(self, run: str, seed: int, file: str, texts: list[str]) -> None:
        """All lines of one file; an empty file has the line 0."""
        count = max(1, len(texts))
        columns = self._columns
        columns["run"] += [run] * count
        columns["seed"] += [seed] * count
        columns["file"] += [file] * count
        columns["line"] += range(1, count + 1) if texts else [0]
        columns["text"] += texts or [""]
        columns["fields"] += [_fields(texts)] * count

    def write(self, path: Path) -> None:
        """Whole or not at all. Raises OSError."""
        table = pa.table(self._columns, schema=LINES)
        with whole_file(path) as unfinished:
            pq.write_table(table, unfinished, compression="zstd")


def carry_out(task: Task) -> Done:
    """Simulate every run of the task. Raises OSError."""
    began, lines = time.process_time(), Lines()
    runs = lab_ms = 0
    crashes: list[tuple[str, str, str]] = []
    bugs: list[tuple[str, str]] = []
    for run in task.runs():
        try:
            record = run.simulate()
        except Exception:
            bugs.append((run.called, traceback.format_exc()))
            continue
        runs, lab_ms = runs + 1, lab_ms + run.plan.duration_ms
        crashes += _crashes(run.called, record)
        for file, texts in files_of(run.plan, record):
            lines.add(run.name, run.plan.seed, file, texts)
    lines.write(task.path)
    return Done(runs, lab_ms, time.process_time() - began, tuple(crashes), tuple(bugs))


def files_of(plan: Plan, record: RecordInMemory) -> Iterator[tuple[str, list[str]]]:
    """The files of a run folder that are judged, each with its lines."""
    identity = Identity(run_name(plan), SIMULATOR, None)
    host = {"monotonic_zero_ns": 0, "clock_resolution_ms": CLOCK_RESOLUTION_MS}
    yield "plan.json", [plan.to_line()]
    yield "manifest.json", [json.dumps(manifest(plan, identity))]
    yield "host.json", [json.dumps(host)]
    yield from record.files.items()


def _crashes(called: str, record: RecordInMemory) -> list[tuple[str, str, str]]:
    return [
        (called, server, said.strip().splitlines()[-1])
        for server, tracebacks in record.crashes.items()
        for said in tracebacks
    ]


def _fields(texts: list[str]) -> str:
    """The `#Fields:` line at the top of a log of Exchange's."""
    top = (text for text in texts[:8] if text.startswith(FIELDS))
    return next(top, "").removeprefix(FIELDS)
