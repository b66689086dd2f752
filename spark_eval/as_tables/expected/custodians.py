"""Who ever held a message durably, and which of those stores were lost.

A custodian is a queue database, not a server: a server that returns with a new one has lost all it
held (SM-17). Answers one question: was the loss of a message beyond what is promised (SM-15)? A
shadow message of an attempt that its primary server refused in the end stands for nothing: nobody
was promised anything, and its primary server is there to say so.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.transforms.server_histories import lost
from spark_eval.spark.joins import joined


def custodians(primaries: DataFrame, shadows: DataFrame, histories: DataFrame) -> DataFrame:
    """One row a Message-Id: `custodians`, `lost` (counts), `servers` (sorted), `unprotected`."""
    as_primary = primaries.where("born IS NOT NULL OR loaded IS NOT NULL").selectExpr(
        "run", "message_id", "server", "database_id", "failure IS NOT NULL AS unprotected"
    )
    answered_for = primaries.where("born IS NOT NULL OR loaded IS NOT NULL").selectExpr(
        "run", "server AS primary_server", "database_id AS primary_database_id",
        "internal_id AS primary_internal_id",
    )  # fmt: skip
    held = shadows.where("held IS NOT NULL").transform(
        joined, answered_for, list(answered_for.columns)
    )
    as_shadow = held.selectExpr(
        "run", "message_id", "server", "held.database_id AS database_id", "false AS unprotected"
    )
    holders = as_primary.unionByName(as_shadow)
    known = holders.join(histories.select("run", "server", "eras"), ["run", "server"], "left")
    ended = known.selectExpr("*", f"{lost('database_id')} AS lost_ms")
    return ended.groupBy("run", "message_id").agg(*_counts())


def _counts() -> list[Column]:
    store = "struct(server, database_id)"
    return [
        F.expr(f"size(collect_set({store})) AS custodians"),
        F.expr(f"size(collect_set({store}) FILTER (WHERE lost_ms IS NOT NULL)) AS lost"),
        F.expr("array_sort(collect_set(server)) AS servers"),
        F.expr("bool_or(unprotected) AS unprotected"),
    ]
