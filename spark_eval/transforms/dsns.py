"""DSNs as servers log them: a DSN is a message of its own, and names the one that it is about."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.read.names import message_id
from spark_eval.spark.joins import joined

OF_DELAY = "context <=> 'delayed'"
FAILED = "NOT is_of_delay"


def dsns(tracking: DataFrame) -> DataFrame:
    """One row a DSN: `message_id` is what it is about, `report` its own Message-Id, `report_id` its
    internal id at `server`; `at_ms`, `ref`. `is_of_delay`: it says that something is late, and not
    that it failed.
    """
    return tracking.where("event = 'DSN'").selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id AS report_id",
        "message_id AS report", f"{message_id('reference')} AS message_id", "at_ms", "ref",
        f"{OF_DELAY} AS is_of_delay",
    )  # fmt: skip


def told(dsns: DataFrame, visible: DataFrame) -> DataFrame:
    """`run`, `message_id`, `sender`, `dsn_ref`: who sees a DSN about which message, and where."""
    seen = visible.selectExpr("run", "message_id AS report", "recipient AS sender", "ref AS seen")
    found = joined(dsns, seen, ["run", "report"])
    return found.groupBy("run", "message_id", "sender").agg(F.min("seen").alias("dsn_ref"))
