"""The tables that stay: each as `schema.py` says, written as Parquet below `evaluation/`.

Every figure of the report and every number of verdict.json comes from one of them.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from spark_eval.judging.results import ClaimResult
from spark_eval.read.folder.run_folder import RunFolder
from spark_eval.results.arrow import ARROW_SCHEMAS
from spark_eval.results.row import Row
from spark_eval.story.row import StoryLine
from spark_eval.story.story import named_in, stories


def claim_rows(run: str, results: Iterable[ClaimResult]) -> list[Row]:
    """`claims` of one run."""
    return [
        {
            "run": run,
            "claim": result.name,
            "status": result.status,
            "requirements": result.requirements,
            "asked": result.asked,
            "violations": result.violations,
            "unknown": result.unknown,
            "reason": result.reason,
        }
        for result in results
    ]


def example_rows(run: str, results: Iterable[ClaimResult]) -> list[Row]:
    """`counterexamples` of one run."""
    return [
        {
            "run": run,
            "claim": result.name,
            "which": example.which,
            "subject": example.subject,
            "at_ms": example.at_ms,
            "detail": example.detail,
            "refs": [{"file": file, "line": line} for file, line in example.refs],
        }
        for result in results
        for example in result.examples
    ]


def stories_of(folder: RunFolder, results: Iterable[ClaimResult]) -> list[StoryLine]:
    """Every line about a message that a counter-example is about."""
    subjects = [example.subject for result in results for example in result.examples]
    return stories(folder, {name for name in map(named_in, subjects) if name is not None})


def write_rows(name: str, rows: list[Row], folder: RunFolder) -> None:
    """A table of rows that the driver knows."""
    write_arrow(pyarrow.Table.from_pylist(rows, ARROW_SCHEMAS[name]), name, folder)


def write_arrow(rows: pyarrow.Table, name: str, folder: RunFolder) -> None:
    """What the driver holds; what was there is replaced."""
    place = _place(name, folder)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    parquet.write_table(rows, place / "part-00000.snappy.parquet", compression="snappy")


def as_parquet(rows: list[Row], schema: pyarrow.Schema) -> bytes:
    """The bytes of a file."""
    written = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema), written, compression="snappy")
    return written.getvalue()


class PartsOfTable:
    """A table that comes in parts; what was there is replaced. What was written is read again, row
    by row, by whoever goes through it.
    """

    def __init__(self, folder: RunFolder, name: str) -> None:
        self._place = _place(name, folder)
        self._count = 0
        shutil.rmtree(self._place, ignore_errors=True)
        self._place.mkdir(parents=True)

    def add(self, part: bytes) -> None:
        """The bytes of a file of Parquet."""
        (self._place / f"part-{self._count:05d}.snappy.parquet").write_bytes(part)
        self._count += 1

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for path in sorted(self._place.iterdir()):
            for batch in parquet.ParquetFile(path).iter_batches():
                yield from batch.to_pylist()


def _place(name: str, folder: RunFolder) -> Path:
    return folder.evaluation / f"{name}.parquet"
