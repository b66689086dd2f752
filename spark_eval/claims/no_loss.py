"""no_loss: what was acknowledged is once visible to everyone it was promised to, or excused with a
reason.

Excused is what SM-15 names: every custodian lost its queue database, or the only one there was
after an acceptance without a shadow (SR-5); and what a server gave up when its sender sees the DSN
(SM-12). `expect.unprotected_loss` bounds how many messages may be excused: none where it says
nothing.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.claims.claim import Claim, case
from spark_eval.sentences import sentence
from spark_eval.tables import Tables

STATUS = "CASE outcome WHEN 'lost' THEN 'violated' WHEN 'unknown' THEN 'unknown' ELSE 'holds' END"
KILLED_AFTER = "exists(kills, k -> k.kind = 'kill' AND k.certain.lo >= acknowledged_ms)"
REQUIREMENTS = f"""filter(array(IF(outcome = 'excused', 'SM-15', NULL),
  IF({KILLED_AFTER}, 'TL-7', NULL)), r -> r IS NOT NULL)"""


def cases(tables: Tables) -> DataFrame:
    promised = tables.deliveries.where("promised").join(
        tables.histories.select("run", "server", "kills"), ["run", "server"], "left"
    )
    judged = promised.selectExpr("*", "slice(refs, 1, 3) AS r").selectExpr(
        *case(
            status=STATUS,
            subject="concat(message_id, ' to ', recipient)",
            detail="reason",
            at_ms="acknowledged_ms",
            refs="try_element_at(r, 1), try_element_at(r, 2)",
            requirements=REQUIREMENTS,
        )
    )
    return judged.unionByName(_expected_loss(tables))


def _expected_loss(tables: Tables) -> DataFrame:
    excused = (
        tables.deliveries.where("outcome = 'excused'")
        .groupBy("run")
        .agg(F.count_distinct("message_id").alias("messages"))
    )
    permitted = "coalesce(expect.unprotected_loss, array(0, 0))"
    bounds = tables.record.runs.selectExpr(
        "run", f"{permitted}[0] AS low", f"{permitted}[1] AS high", "end_ms",
        "expect.unprotected_loss IS NOT NULL AS stated",
    )  # fmt: skip
    counted = (
        bounds.join(excused, "run", "left")
        .selectExpr("*", "coalesce(messages, 0L) AS excused")
        .where("stated OR excused > 0")
    )
    return counted.selectExpr(
        *case(
            status="IF(excused BETWEEN low AND high, 'holds', 'violated')",
            subject="'expect.unprotected_loss'",
            detail=sentence("{excused} messages are excused, not {low} to {high}"),
            at_ms="end_ms",
            refs="CAST(NULL AS struct<file: string, line: int>)",
            requirements="array('SM-15')",
        )
    )


CLAIM = Claim("no_loss", ("SM-15", "TL-7"), cases)
