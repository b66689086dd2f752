"""Into how many partitions the work is cut.

A run of some thousand rows is one partition: a second one would double the tasks, and each of them
costs more than it does. Every table of such a session is kept in one piece, so nothing is shuffled.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

SHUFFLES = "spark.sql.shuffle.partitions"


def in_one_piece(spark: SparkSession) -> bool:
    return spark.conf.get(SHUFFLES) == "1"


def together(rows: DataFrame) -> DataFrame:
    """The same rows, in one partition where the session works on one."""
    return rows.coalesce(1) if in_one_piece(rows.sparkSession) else rows
