"""One recorded run as many runs of their own: batches of a sweep, as the lab writes them.

Messages and databases get ids of their own in each run; servers keep their names, as those of one
scenario do. Columns are made by Arrow, a run at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.multiplied.copies import SHIFTS, tag
from bench.multiplied.template import CLONE, GROUP, Recorded, Template
from lab.campaigns.sweep.task import LINES
from lab.hosts.simulator.record_in_memory import FIELDS

PER_BATCH = 250


@dataclass(frozen=True, slots=True)
class _Table:
    """The lines of all files of a run, but for plan and manifest, with markers for one shift."""

    file: pa.DictionaryArray
    line: pa.Array
    text: pa.Array
    fields: pa.DictionaryArray


def multiply_into_runs(
    recorded: Recorded, folder: Path, count: int, *, first_seed: int = 1, per_batch: int = PER_BATCH
) -> None:
    """A sweep folder, whole. Raises OSError."""
    folder.mkdir(parents=True)
    template = Template(recorded, renames=False)
    tables = [_table(recorded, template, shift) for shift in range(SHIFTS)]
    plan = recorded.plan
    asked = {
        "version": 1, "scenario": plan["scenario"], "first_seed": first_seed, "seeds": count,
        "per_batch": per_batch, "origin": plan["clock"]["origin"],
    }  # fmt: skip
    (folder / "sweep.json").write_text(json.dumps(asked), encoding="utf-8")
    for number, start in enumerate(range(first_seed, first_seed + count, per_batch)):
        batch = folder / "record" / f"batch={number:05d}"
        batch.mkdir(parents=True)
        with pq.ParquetWriter(batch / "lines.parquet", LINES, compression="zstd") as writer:
            for seed in range(start, min(start + per_batch, first_seed + count)):
                for table in _run(recorded, template, tables[seed % SHIFTS], seed):
                    writer.write_table(table)
        (batch / "_SUCCESS").touch()


def _run(recorded: Recorded, template: Template, table: _Table, seed: int) -> Iterator[pa.Table]:
    run = f"{recorded.plan['scenario']}-{seed}"
    plan = template.planned({**recorded.plan, "seed": seed}, seed % SHIFTS)
    manifest = json.dumps({**recorded.manifest, "run": run, "seed": seed})
    whole = {"plan.json": plan, "manifest.json": manifest, "host.json": json.dumps(recorded.host)}
    texts = [_own(text, seed) for text in whole.values()]
    yield _rows(run, seed, _Table(
        pa.array(list(whole)).dictionary_encode(), pa.array([1] * len(whole), pa.int32()),
        pa.array(texts), pa.array([""] * len(whole)).dictionary_encode(),
    ))  # fmt: skip
    text = pc.replace_substring(table.text, GROUP, tag(seed))
    text = pc.replace_substring(text, CLONE, tag(0))
    yield _rows(run, seed, _Table(table.file, table.line, text, table.fields))


def _own(text: str, seed: int) -> str:
    return text.replace(GROUP, tag(seed)).replace(CLONE, tag(0))


def _rows(run: str, seed: int, table: _Table) -> pa.Table:
    count = len(table.text)
    same = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([run]))
    seeds = pa.array([seed] * count, pa.int64())
    columns = [same, seeds, table.file, table.line, table.text, table.fields]
    return pa.table(columns, schema=LINES)


def _table(recorded: Recorded, template: Template, shift: int) -> _Table:
    files: list[str] = []
    numbers: list[int] = []
    texts: list[str] = []
    fields: list[str] = []
    for name, lines in recorded.files.items():
        top = (line for line in lines[:8] if line.startswith(FIELDS))
        count = max(1, len(lines))
        files += [name] * count
        numbers += range(1, count + 1) if lines else [0]
        texts += list(template.lines(lines, shift)) or [""]
        fields += [next(top, "").removeprefix(FIELDS)] * count
    return _Table(
        pa.array(files).dictionary_encode(), pa.array(numbers, pa.int32()), pa.array(texts),
        pa.array(fields).dictionary_encode(),
    )  # fmt: skip
