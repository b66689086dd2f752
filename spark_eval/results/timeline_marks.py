"""What to draw on a lane: one row a moment of a server, many alike in a moment counted together.

Bounded by the number of servers, kinds and moments (`MOMENTS` to a run), whatever the mail was.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.transforms.resubmissions import RESUBMITTED
from spark_eval.spark.joins import joined

MOMENTS = 240
MARKS = {
    "started": "restart",
    "database-created": "new database",
    "database-set-aside": "database set aside",
    "shadow-heartbeat-failed": "heartbeat failed",
}
MOUNTED = "event = 'database-mounted' AND epoch > 0"
EVENTS = {
    "RECEIVE": "accepted",
    "HAREDIRECTFAIL": "unprotected",
    "HADISCARD": "shadow let go",
    "DUPLICATEDELIVER": "duplicate hidden",
    "DEFER": "deferred",
}


def timeline_events(
    tracking: DataFrame, lifecycle: DataFrame, promotions: DataFrame, runs: DataFrame
) -> DataFrame:
    """Columns of `result_schema.TIMELINE_EVENTS`; `at_ms` is the first of those counted."""
    logged = tracking.selectExpr(
        "run", "server AS lane",
        f"IF({RESUBMITTED}, 'resubmitted', {_named('event', EVENTS)}) AS kind", "at_ms",
        "IF(event = 'RESUBMIT', coalesce(destination, ''), '') AS detail",
    )  # fmt: skip
    told = _after_the_first_start(lifecycle).selectExpr(
        "run", "server AS lane",
        f"IF({MOUNTED}, 'copy activated', {_named('event', MARKS)}) AS kind", "at_ms",
        "coalesce(primary, IF(epoch > 0, `database`, NULL), '') AS detail",
    )  # fmt: skip
    promoted = promotions.where("promoted IS NOT NULL").selectExpr(
        "run", "server AS lane", "'promotion' AS kind", "promoted.at_ms AS at_ms",
        "concat(cause, ' of ', primary_server) AS detail",
    )  # fmt: skip
    moments = logged.unionByName(told).unionByName(promoted).where("kind IS NOT NULL")
    width = runs.selectExpr("run", f"greatest(CAST(end_ms / {MOMENTS} AS BIGINT), 1L) AS width_ms")
    placed = joined(moments, width, "run").selectExpr("*", "at_ms DIV width_ms AS moment")
    return placed.groupBy("run", "lane", "kind", "detail", "moment").agg(
        F.min("at_ms").alias("at_ms"), F.count("*").alias("count")
    )


def _after_the_first_start(lifecycle: DataFrame) -> DataFrame:
    """Without what each server did when the lab started it: that is no restart, and the database
    that it made then replaces none.
    """
    first = lifecycle.where("event = 'started'").groupBy("run", "server")
    began = first.agg(F.expr("min(struct(at_ms, mono_ns)) AS began"))
    known = lifecycle.join(began, ["run", "server"], "left")
    return known.where("began IS NULL OR struct(at_ms, mono_ns) > began")


def _named(column: str, names: Mapping[str, str]) -> str:
    arms = " ".join(f"WHEN '{told}' THEN '{name}'" for told, name in names.items())
    return f"CASE {column} {arms} END"
