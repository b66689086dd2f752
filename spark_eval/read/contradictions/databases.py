"""Rows of a queue database that its server's lifecycle log never opened.

A server names its queue database when it creates or opens one, before it takes mail, and in every
row of its message tracking log.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.read.contradictions.made_by_lab import finding, found_in
from spark_eval.spark.joins import joined, small

UNOPENED = "a queue database that lifecycle.jsonl does not open"
KEY = ("run", "server", "database_id")


def of_databases(made: DataFrame, tracking: DataFrame, lifecycle: DataFrame) -> DataFrame:
    """Contradictions, as `found_in` gives them."""
    named = tracking.where("database_id <> ''").groupBy(*KEY).agg(F.min("ref").alias("ref"))
    opened = lifecycle.where("database_id IS NOT NULL").select(*KEY).distinct()
    unknown = joined(named, small(made.select("run")), "run").join(
        small(opened), list(KEY), "left_anti"
    )
    return found_in(unknown, finding("true", "ref.file", "ref.line", UNOPENED))
