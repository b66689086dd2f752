"""discard_after_delivery: no shadow is let go before every fork is done, and each is in time after.

Two questions to each shadow: the order (SM-1, SM-4, SM-10), and the deadline of one heartbeat once
both servers can be reached (SM-2 to SM-5, SM-16). `expected.discard` derives both.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.claims.claim import Claim, case
from spark_eval.tables import Tables
from spark_eval.transforms.sql import overlaps

RESTARTS = (
    "transform(filter(primary_kills, k -> k.kind IN ('kill', 'stop', 'restart')), k -> k.possible)"
)
ENDED = "coalesce(discard.at_ms, end_ms)"
DEADLINE_REQUIREMENTS = f"""filter(array('SM-2', 'SM-3', 'SM-4', 'SM-19',
  IF({overlaps(RESTARTS, "done_ms", ENDED)}, 'SM-5', NULL),
  IF({overlaps("any_possible", "done_ms", ENDED)}, 'SM-16', NULL)), r -> r IS NOT NULL)"""


def cases(tables: Tables) -> DataFrame:
    return _order(tables.discards).unionByName(_deadline(tables.discards))


def _order(discards: DataFrame) -> DataFrame:
    return discards.selectExpr(
        *case(
            status="order_status",
            subject="message_id",
            detail="order_reason",
            at_ms="discard.at_ms",
            refs="discard.ref, done_ref, held.ref",
            requirements="array('SM-1', 'SM-4', 'SM-10')",
            weight="coalesce(done_ms - discard.at_ms, 1e15)",
        )
    )


def _deadline(discards: DataFrame) -> DataFrame:
    return discards.selectExpr(
        *case(
            status="deadline_status",
            subject="message_id",
            detail="deadline_reason",
            at_ms=ENDED,
            refs="coalesce(held.ref, claimed.ref), done_ref, discard.ref",
            requirements=DEADLINE_REQUIREMENTS,
            weight=f"IF(discard IS NULL, 1e12, 0) + {ENDED} - reachable_ms",
        )
    )


CLAIM = Claim(
    "discard_after_delivery",
    ("SM-1", "SM-2", "SM-3", "SM-4", "SM-5", "SM-10", "SM-16", "SM-19"),
    cases,
)
