"""Where the record of runs comes from: run folders, or a table of their lines.

A source gives the same four tables, whatever lies behind it; all that follows is one code. Lines
that are empty are left out; the number of a line counts from 1 in its file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from spark_eval.read.file_list import departures
from spark_eval.read.lines import literal_rows, read_files, read_lines
from spark_eval.read.run_folder import RunFolder
from spark_eval.read.split_lines import read_split_lines
from spark_eval.spark.partitions import in_one_piece

PLAN_FILES = ("plan.json", "manifest.json", "host.json")


class Source(Protocol):
    """The record of one run or many, keyed by `run`."""

    def plans(self) -> DataFrame:
        """`run`, `file`, `value`: plan.json, manifest.json, host.json, each the whole text."""

    def records(self) -> DataFrame:
        """Lines of JSON Lines files: `run`, `origin_ms`, `file`, `fields`, `line`, `text`,
        `torn`.
        """

    def logs(self) -> DataFrame:
        """Lines of message tracking and connectivity logs, in the same shape."""

    def files(self) -> DataFrame:
        """`run`, `file`: the records and logs that are there, empty ones too."""

    def departures(self) -> DataFrame | None:
        """`run`, `file`, `damage`: what is not as the lab left it; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Run folders on disk, read file by file."""

    spark: SparkSession
    folders: Sequence[RunFolder]

    def plans(self) -> DataFrame:
        files = [folder.path / name for folder in self.folders for name in PLAN_FILES]
        return read_files(self.spark, self.folders, [path for path in files if path.is_file()])

    def records(self) -> DataFrame:
        return self._lines([path for folder in self.folders for path in folder.records()])

    def logs(self) -> DataFrame:
        return self._lines([path for folder in self.folders for path in folder.logs()])

    def _lines(self, files: list[Path]) -> DataFrame:
        if not files or in_one_piece(self.spark):
            return read_lines(self.spark, self.folders, files)
        return read_split_lines(self.spark, self.folders, files)

    def files(self) -> DataFrame:
        rows = [
            {"run": folder.run, "file": path.relative_to(folder.path).as_posix()}
            for folder in self.folders
            for path in folder.evidence()
        ]
        return literal_rows(self.spark, rows, (("run", "STRING"), ("file", "STRING")))

    def departures(self) -> DataFrame | None:
        rows = [
            {"run": folder.run, "file": file, "damage": damage}
            for folder in self.folders
            for file, damage in departures(folder)
        ]
        columns = (("run", "STRING"), ("file", "STRING"), ("damage", "STRING"))
        return literal_rows(self.spark, rows, columns) if rows else None
