"""The counts of verdict.json, out of the tables. Parts that are not built yet give no
numbers at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.expected.resubmission import Resubmission
from spark_eval.as_tables.expected.resubmitted_copies import OUTSIDE
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.next.results.counts import NO_SAFETY_NET
from spark_eval.spark.joins import joined


def delivery(tables: Tables) -> DataFrame:
    """By run: deliveries expected, delivered, lost, excused; duplicates; messages rejected, in
    doubt.

    `visible_duplicates` counts copies beyond the first, in mailboxes and at external recipients;
    `rejected` and `in_doubt` count messages that no attempt got acknowledged.
    """
    by_run = _deliveries(tables.deliveries).transform(
        joined, _unsent(tables.outcomes), "run", "full"
    )
    turfed = (
        tables.record.tracking.where("event = 'DUPLICATEDELIVER'")
        .groupBy("run")
        .agg(F.sum(F.size("recipients")).alias("suppressed_duplicates"))
    )
    return joined(by_run, turfed, "run", "full")


def _deliveries(deliveries: DataFrame) -> DataFrame:
    return deliveries.groupBy("run").agg(
        F.expr("count_if(promised) AS expected"),
        F.expr("count_if(promised AND outcome = 'delivered') AS delivered"),
        F.expr("count_if(outcome = 'lost') AS lost"),
        F.expr("count_if(outcome = 'excused') AS excused"),
        F.expr("sum(greatest(copies - 1, 0)) AS visible_duplicates"),
    )


def _unsent(outcomes: DataFrame) -> DataFrame:
    return outcomes.groupBy("run").agg(
        F.expr("count_if(outcome = 'rejected') AS rejected"),
        F.expr("count_if(outcome = 'in doubt') AS in_doubt"),
    )


def promotion(tables: Tables) -> DataFrame:
    """By run: what was expected and seen, what went wrong, and delays after the cause in lab
    seconds.
    """
    delay = "(promoted.at_ms - due_ms) / 1000.0"
    least, middle = f"min({delay}) AS min", f"median({delay}) AS median"
    most = f"max({delay}) AS max"
    legal = "promoted IS NOT NULL AND coalesce(early_kind, '') <> 'spurious'"
    return tables.promotions.groupBy("run").agg(
        F.expr(f"count_if(expected OR ({legal})) AS expected"),
        F.expr("count_if(promoted IS NOT NULL) AS observed"),
        F.expr("count_if(late_kind = 'missing') AS missing"),
        F.expr("count_if(early_kind = 'spurious') AS spurious"),
        F.expr("count_if(early_kind = 'early') AS early"),
        F.expr("count_if(late_kind = 'late') AS late"),
        F.expr(f"struct({least}, {middle}, {most}) AS delay_seconds"),
    )


def safety_net(known: Resubmission) -> DataFrame:
    """By run: resubmit requests, copies that were to come back, those that came, what was missing
    and what nothing called for.
    """
    requests = known.requests.groupBy("run").agg(F.count("*").alias("requests"))
    expected = known.expected.groupBy("run").agg(
        F.count("*").alias("expected"), F.expr("count_if(j.status = 'violated') AS missing")
    )
    came = known.came.groupBy("run").agg(
        F.expr("sum(times) AS resubmitted"),
        F.expr(f"coalesce(sum(times) FILTER (WHERE j.kind = '{OUTSIDE}'), 0L) AS outside"),
        F.expr("coalesce(sum(times) FILTER (WHERE safety_net = 'primary'), 0L) AS from_primary"),
        F.expr("coalesce(sum(times) FILTER (WHERE safety_net = 'shadow'), 0L) AS from_shadow"),
    )
    counted = joined(requests, expected, "run", "full").transform(joined, came, "run", "full")
    return counted.select("run", *NO_SAFETY_NET)


def numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of counts as verdict.json has it."""
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: None if v is None else round(float(v), 3) for name, v in value.items()}
    return int(value or 0)
