"""promotion_on_time: what should have been promoted was, and by when it was due (SM-6, SM-7).

Asks every shadow whose promotion was surely due and every promotion that happened;
`expect.promotions` narrows: each entry must have happened, and only between `after` and `after +
within`.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.spark.joins import joined
from spark_eval.sql.reasons import sentence

AT = "promoted.at_ms"
NO_REF = "CAST(NULL AS struct<file: string, line: int>)"


def cases(tables: Tables) -> DataFrame:
    judged = tables.promotions.selectExpr(
        *case(
            status="timeliness",
            subject="message_id",
            detail="reason",
            at_ms=f"coalesce({AT}, not_after_ms)",
            refs="promoted.ref, held.ref",
            requirements="array(IF(by_database, 'SM-7', 'SM-6'))",
            weight=f"coalesce({AT} - not_after_ms, 1e12)",
        )
    )
    return judged.unionByName(_expected(tables))


def _expected(tables: Tables) -> DataFrame:
    entries = joined(
        tables.record.expected_promotions,
        tables.record.runs.select("run", "finest_ms", "end_ms"),
        "run",
    ).selectExpr("*", "lower(`of`) AS primary_server")
    seen = tables.promotions.where("promoted IS NOT NULL").selectExpr(
        "run", "primary_server", "cause", "promoted"
    )
    outside = (
        f"({AT} < coalesce(after_ms, 0L) - finest_ms "
        f"OR {AT} > coalesce(after_ms, 0L) + within_ms + finest_ms)"
    )
    told = entries.join(seen, ["run", "primary_server", "cause"], "left")
    counted = told.groupBy(
        "run", "pos", "primary_server", "cause", "after_ms", "within_ms", "end_ms"
    ).agg(
        F.expr("count(promoted) AS seen"),
        F.expr(f"count_if({outside}) AS strays"),
        F.expr(f"min_by(promoted, struct({AT}, promoted.ref)) FILTER (WHERE {outside}) AS stray"),
    )
    return counted.selectExpr(
        *case(
            status="IF(seen > 0 AND strays = 0, 'holds', 'violated')",
            subject="concat('expect.promotions of ', primary_server)",
            detail=sentence(
                "{seen} promotions by {cause}, {strays} of them outside {@coalesce(after_ms, 0L)} "
                "to {@coalesce(after_ms + within_ms, end_ms)}"
            ),
            at_ms="coalesce(stray.at_ms, after_ms, 0L)",
            refs=f"coalesce(stray.ref, {NO_REF})",
            requirements="array()",
            weight="strays",
            expected="true",
        )
    )


CLAIM = Claim("promotion_on_time", ("SM-6", "SM-7"), cases)
