"""Failovers and what came back from Safety Nets, as tables that stay."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.expected.resubmission import EXCUSED, Resubmission
from spark_eval.as_tables.expected.resubmitted_copies import OUTSIDE
from spark_eval.as_tables.transforms.failovers import CHANGE


def of_safety_nets(known: Resubmission) -> dict[str, Callable[[], DataFrame]]:
    """How to make `transitions`, `resubmissions` and `operations`, with the columns of
    `result_schema`.
    """
    return {
        "transitions": lambda: _transitions(known),
        "resubmissions": lambda: _resubmissions(known.expected),
        "operations": lambda: known.operations,
    }


def _transitions(known: Resubmission) -> DataFrame:
    asked = known.asked.groupBy(*CHANGE).agg(
        F.expr("greatest(min(inside_from_ms), 0L) AS inside_from_ms"),
        F.expr("max(learnt.at_ms) AS known_to_all_ms"),
    )
    requests = _of_request(known.requests).groupBy(*CHANGE).agg(F.count("*").alias("requests"))
    expected = known.expected.groupBy(*CHANGE).agg(
        F.count("*").alias("expected"),
        F.expr("count_if(j.status = 'violated') AS missing"),
        F.expr("count_if(j.status = 'unknown') AS unknown"),
        F.expr(f"count_if(j.kind = '{EXCUSED}') AS excused"),
    )
    came = (
        _of_request(known.came)
        .groupBy(*CHANGE)
        .agg(
            F.expr("sum(times) AS resubmitted"),
            F.expr(f"sum(times) FILTER (WHERE j.kind = '{OUTSIDE}') AS outside"),
        )
    )
    led = known.operations.where("epoch IS NOT NULL").select(*CHANGE, "operation")
    joined = known.transitions
    for rows in (asked, requests, expected, came, led):
        joined = joined.join(rows, CHANGE, "left")
    counts = ("requests", "expected", "resubmitted", "missing", "unknown", "excused", "outside")
    return joined.selectExpr(
        *CHANGE, "`from`", "`to`", "kind", "cause", "operation", "mounted.at_ms AS mounted_ms",
        "lost_ms IS NULL AS lossless", "lost_deliveries", "inside_from_ms", "known_to_all_ms",
        *(f"coalesce({name}, 0L) AS {name}" for name in counts),
    )  # fmt: skip


def _of_request(rows: DataFrame) -> DataFrame:
    return rows.withColumn("database", F.col("asked_database")).withColumn(
        "epoch", F.col("asked_epoch")
    )


def _resubmissions(expected: DataFrame) -> DataFrame:
    return expected.selectExpr(
        *CHANGE, "server", "message_id", "brought_ms", "inside", "lost",
        "coalesce(given.at_ms, stood_in.at_ms) AS resubmitted_ms",
        "IF(given IS NULL, stood_in.server, NULL) AS stood_in",
        "j.status AS status", "j.reason AS reason",
        "filter(array(brought_ref, given.ref, stood_in.ref), r -> r IS NOT NULL) AS refs",
    )  # fmt: skip
