"""Joins of tables that may all be in one piece, as a single run's are.

Spark takes the result of an inner or a full join of two such tables for one that may be anywhere,
and moves it before the next join: a stage for nothing. A broadcast is a job of its own, and
planning waits for it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.partitions import in_one_piece, together


def joined(rows: DataFrame, other: DataFrame, on: str | list[str], how: str = "inner") -> DataFrame:
    """An inner or a full join; to be called as `rows.transform(joined, other, on)`."""
    return together(rows.join(other, on, how))


def small(rows: DataFrame) -> DataFrame:
    """The same rows, of which each executor is to have all; nothing is said where there is but one
    piece.
    """
    return rows if in_one_piece(rows.sparkSession) else F.broadcast(rows)
