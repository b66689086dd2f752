"""A task of a sweep, on whatever executor it lands: simulate a range of seeds, write the records.

The record of each run becomes lines (run, seed, file, line, text, fields) of one Parquet file,
which is there whole or not at all, so a task that was lost is simply done again. Inputs of cores
are left out: `shadowlab run … --seed` has them. Nothing is judged here.
"""

import json
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lab.hosts.simulator.chance import CLOCK_RESOLUTION_MS
from lab.hosts.simulator.record import FIELDS, Record
from lab.hosts.simulator.simulation import simulate
from lab.plan import Plan, resolve
from lab.run_record import Identity, manifest
from lab.scenario import ScenarioModel
from lab.simulated_run import SIMULATOR, run_name
from lab.topology import TopologyModel

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
class Task:
    """Seeds `first` to `last` of a scenario, written below `folder`."""

    scenario: ScenarioModel
    topology: TopologyModel
    first: int
    last: int
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / f"part-{self.first}-{self.last}.parquet"


@dataclass(frozen=True, slots=True)
class Done:
    """What a task did. `crashes`: (seed, server, the last line of its traceback); `bugs`: (seed,
    traceback) of runs that could not be simulated at all."""

    runs: int
    lab_ms: int
    cpu_seconds: float
    crashes: tuple[tuple[int, str, str], ...]
    bugs: tuple[tuple[int, str], ...]


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
        unfinished = path.with_name(f".{path.name}.unfinished")
        pq.write_table(table, unfinished, compression="zstd")
        unfinished.replace(path)


def carry_out(task: Task) -> Done:
    """Simulate every seed of the task. Raises OSError."""
    began, lines = time.process_time(), Lines()
    runs = lab_ms = 0
    crashes: list[tuple[int, str, str]] = []
    bugs: list[tuple[int, str]] = []
    for seed in range(task.first, task.last + 1):
        plan = resolve(task.scenario, task.topology, seed)
        try:
            record = simulate(plan, keeps_inputs=False)
        except Exception:
            bugs.append((seed, traceback.format_exc()))
            continue
        runs, lab_ms = runs + 1, lab_ms + plan.duration_ms
        crashes += _crashes(seed, record)
        for file, texts in files_of(plan, record):
            lines.add(run_name(plan), seed, file, texts)
    lines.write(task.path)
    return Done(runs, lab_ms, time.process_time() - began, tuple(crashes), tuple(bugs))


def files_of(plan: Plan, record: Record) -> Iterator[tuple[str, list[str]]]:
    """The files of a run folder that are judged, each with its lines."""
    identity = Identity(run_name(plan), SIMULATOR, None)
    host = {"monotonic_zero_ns": 0, "clock_resolution_ms": CLOCK_RESOLUTION_MS}
    yield "plan.json", [plan.to_line()]
    yield "manifest.json", [json.dumps(manifest(plan, identity))]
    yield "host.json", [json.dumps(host)]
    yield from record.files.items()


def _crashes(seed: int, record: Record) -> list[tuple[int, str, str]]:
    return [
        (seed, server, said.strip().splitlines()[-1])
        for server, tracebacks in record.crashes.items()
        for said in tracebacks
    ]


def _fields(texts: list[str]) -> str:
    """The `#Fields:` line at the top of a log of Exchange's."""
    top = (text for text in texts[:8] if text.startswith(FIELDS))
    return next(top, "").removeprefix(FIELDS)
