"""A batch of a sweep as a source: the lines of many runs in one table, written by the lab.

Nothing is torn here, since no disk was; lines that say nothing that is judged are passed over, and
they are most of the connectivity logs. Rows of one run are brought together once, at the door, so
that whatever is keyed by run finds them in one place and moves no more; of fewer runs than there
are partitions they stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_eval.read.run_folder import LOG_FILE, RECORD_FILE
from spark_eval.read.source import PLAN_FILES
from spark_eval.spark.partitions import partitions_of


@dataclass(frozen=True, slots=True)
class LinesTable:
    """`lines` has the columns of `schema.SWEEP_LINES`, of about so many `runs`; lab time of all of
    them starts at `origin_ms` (epoch ms).
    """

    lines: DataFrame
    origin_ms: int
    runs: int

    def plans(self) -> DataFrame:
        named = self._together(F.col("file").isin(*PLAN_FILES))
        return named.select("run", "file", F.col("text").alias("value"))

    def records(self) -> DataFrame:
        return self._numbered(_matches(RECORD_FILE))

    def logs(self) -> DataFrame:
        return self._numbered(_matches(LOG_FILE))

    def files(self) -> DataFrame:
        first = F.col("line") <= 1
        evidence = _matches(RECORD_FILE) | _matches(LOG_FILE)
        return self._together(first & evidence).select("run", "file").distinct()

    def departures(self) -> None:
        """A Parquet file is whole, or cannot be read at all."""

    def _numbered(self, wanted: Column) -> DataFrame:
        there = self._together(wanted & (F.col("line") > 0) & (F.rtrim("text") != ""))
        return there.selectExpr(
            "run", f"{self.origin_ms}L AS origin_ms", "file", "fields", "line", "text",
            "false AS torn",
        )  # fmt: skip

    def _together(self, wanted: Column) -> DataFrame:
        rows = self.lines.where(wanted)
        partitions = partitions_of(rows.sparkSession)
        return rows.repartition(partitions, "run") if self.runs >= partitions else rows


def _matches(pattern: str) -> Column:
    return F.col("file").rlike(pattern)
