"""no_early_promotion: nothing is promoted before its cause, without one, or after its discard.

Asks every promotion, and every shadow held while its primary was out of reach, which is where an
impatient server would promote (SM-6, SM-7, SM-8, SR-10); those that were held while their server's
clock was wrong are asked for SM-18 too. Where `expect.promotions` is given, a promotion that no
entry names is a violation as well.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.fault_windows import EXTENTS, SEEN
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import sentence

AT = "promoted.at_ms"
UNTIL = "coalesce(discard.at_ms, promoted.at_ms, end_ms)"
DOWNS = "transform(filter(primary_kills, k -> k.kind <> 'fill_disk'), k -> k.possible)"
WAS_AWAY = overlaps(DOWNS, "held_ms", UNTIL)
BY_CAUSE = f"""CASE WHEN by_database THEN array('SM-7')
  WHEN promoted IS NOT NULL THEN IF(earliness = 'violated' AND NOT changed AND {WAS_AWAY},
    array('SM-6', 'SM-8'), array('SM-6'))
  WHEN {WAS_AWAY} THEN IF(changed, array('SM-7'), array('SM-8'))
  ELSE array('SM-6') END"""
WHILE_WRONG = f"coalesce({overlaps('wrong', 'held_ms', UNTIL)}, false)"
REQUIREMENTS = f"concat({BY_CAUSE}, IF({WHILE_WRONG}, array('SM-18'), array()))"


def cases(tables: Tables) -> DataFrame:
    clocks = tables.windows.where(f"kind = 'skew_clock' AND {SEEN}").selectExpr(
        "run", "server", EXTENTS[0]
    )
    wrong = clocks.groupBy("run", "server").agg(F.collect_list("possible").alias("wrong"))
    judged = tables.promotions.join(wrong, ["run", "server"], "left").selectExpr(
        *case(
            status="earliness",
            subject="message_id",
            detail="early_reason",
            at_ms=f"coalesce({AT}, held_ms)",
            refs="promoted.ref, held.ref, discard.ref",
            requirements=REQUIREMENTS,
            weight=f"coalesce(not_before_ms - {AT}, 0)",
        )
    )
    return judged.unionByName(_unexpected(tables))


def _unexpected(tables: Tables) -> DataFrame:
    entries = tables.record.expected_promotions.selectExpr(
        "run", "lower(`of`) AS primary_server", "cause"
    ).distinct()
    seen = tables.promotions.where("promoted IS NOT NULL").select(
        "run", "primary_server", "cause", "promoted", "server", "message_id"
    )
    strays = seen.join(entries, ["run", "primary_server", "cause"], "left_anti")
    counted = strays.groupBy("run").agg(
        F.count("*").alias("strays"),
        F.expr(
            "min_by(struct(server, primary_server, cause, promoted), "
            f"struct({AT}, message_id, promoted.ref)) AS stray"
        ),
    )
    narrowed = tables.record.runs.where("expect.promotions IS NOT NULL").select("run")
    return narrowed.join(counted, "run", "left").selectExpr(
        *case(
            status="IF(strays IS NULL, 'holds', 'violated')",
            subject="'expect.promotions'",
            detail=sentence(
                "{strays} promotions that no entry names, the first by {stray.server} "
                "of {stray.primary_server}, {stray.cause}"
            ),
            at_ms="coalesce(stray.promoted.at_ms, 0L)",
            refs="stray.promoted.ref",
            requirements="array()",
            expected="true",
        )
    )


CLAIM = Claim("no_early_promotion", ("SM-6", "SM-7", "SM-8", "SM-18"), cases)
