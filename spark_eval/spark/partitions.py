"""Into how many partitions the work is cut.

A run of some thousand rows is one partition: a second one would double the tasks, and each of them
costs more than it does. Every table of such a session is kept in one piece, so nothing is shuffled.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

SHUFFLES = "spark.sql.shuffle.partitions"


def partitions_of(spark: SparkSession) -> int:
    """So many as a table has after a shuffle: more would only start more tasks."""
    return int(str(spark.conf.get(SHUFFLES)))


def in_one_piece(spark: SparkSession) -> bool:
    return partitions_of(spark) == 1


def together(rows: DataFrame) -> DataFrame:
    """The same rows, in one partition where the session works on one."""
    return rows.coalesce(1) if in_one_piece(rows.sparkSession) else rows
