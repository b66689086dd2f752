"""Writes the folder of a sweep as the lab does: the lines of many runs as Parquet, batch by batch.

The runs come from `run_builder`; here each gets its seed and its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tests.spark_eval.runs.run_builder import ORIGIN, Run

SCENARIO = "calm"
WHOLE = ("plan.json", "manifest.json", "host.json")
COLUMNS = pa.schema(
    [("run", pa.string()), ("seed", pa.int64()), ("file", pa.string()), ("line", pa.int32()),
     ("text", pa.string()), ("fields", pa.string())]
)  # fmt: skip


def write_sweep(
    root: Path,
    runs: Mapping[int, Run],
    *,
    per_batch: int = 2,
    seeds: int | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """`runs` by seed, all batches complete; `seeds` where more were asked than there are runs;
    `more` stands in sweep.json too.
    """
    first = min(runs)
    folder = root / "sweep"
    folder.mkdir(parents=True)
    count = len(runs) if seeds is None else seeds
    asked = {
        "version": 1, "scenario": SCENARIO, "first_seed": first, "seeds": count,
        "per_batch": per_batch, "origin": ORIGIN.isoformat().replace("+00:00", "Z"),
        **(more or {}),
    }  # fmt: skip
    (folder / "sweep.json").write_text(json.dumps(asked), encoding="utf-8")
    numbers = sorted({(seed - first) // per_batch for seed in runs})
    for number in numbers:
        mine = {seed: run for seed, run in runs.items() if (seed - first) // per_batch == number}
        write_batch(folder, number, mine)
    return folder


def write_batch(
    folder: Path, number: int, runs: Mapping[int, Run], *, named: str | None = None
) -> Path:
    """One complete batch; a file for each run, as executors write them. Called after their seeds
    unless `named`.
    """
    batch = folder / "record" / f"batch={number:05d}"
    batch.mkdir(parents=True, exist_ok=True)
    for seed, run in runs.items():
        run.name = named or f"{SCENARIO}-{seed}"
        table = pa.Table.from_pylist(list(_rows(seed, run)), schema=COLUMNS)
        parquet.write_table(table, batch / f"{run.name}.parquet")
    (batch / "_SUCCESS").touch()
    return batch


def _rows(seed: int, run: Run) -> Iterator[dict[str, Any]]:
    run.plan["seed"] = seed
    named = {"run": run.name, "seed": seed}
    for file, text in run.texts().items():
        lines = [text] if file in WHOLE else text.replace("\r\n", "\n").split("\n")[:-1]
        fields = next((line[9:] for line in lines if line.startswith("#Fields: ")), "")
        for number, line in enumerate(lines or [""], start=1 if lines else 0):
            yield {**named, "file": file, "line": number, "text": line, "fields": fields}
