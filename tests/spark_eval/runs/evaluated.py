"""Run folders evaluated in this process: as `evaluate` does it, but without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyarrow import parquet

from spark_eval.evaluation.evaluation import written
from spark_eval.judging.judged import JudgedRun
from spark_eval.read.folder.files import FolderFiles
from spark_eval.read.folder.run_folder import open_run_folder
from spark_eval.results.arrow import ARROW_SCHEMAS
from spark_eval.spread.whole_run import whole_run


def evaluated(path: Path) -> JudgedRun:
    """Its files, tables and report are written."""
    folder = open_run_folder(path)
    return written(folder, whole_run(FolderFiles(folder.path), ARROW_SCHEMAS))


def rows_of(run: JudgedRun, table: str) -> list[dict[str, Any]]:
    """Of a table that was written."""
    rows: list[dict[str, Any]] = parquet.read_table(
        run.folder.evaluation / f"{table}.parquet"
    ).to_pylist()
    return rows
