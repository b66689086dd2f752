"""drains_after_heal: after the last heal and `settle`, no queue holds what could be delivered.

Asks every primary message of a server whose queue listing was collected, and every entry of a
delivery queue or of the poison queue, which only a person empties. Where a fault never healed,
nothing can be said of what waits.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.shadow.held_long_enough import listings
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.spark.joins import joined
from spark_eval.sql.intervals import FOREVER_MS
from spark_eval.sql.reasons import sentence

KEY = ["run", "server", "network_message_id"]
UNLISTED = "no sound queue listing of {server}"
STUCK = "waits in {server}; never healed: {unhealed}"
WAITING = "in a {queue} queue of {server} since {@entered_ms}, for {array_join(recipients, ', ')}"


def cases(tables: Tables) -> DataFrame:
    waiting = tables.record.queues.where("queue IN ('delivery', 'poison')").selectExpr(
        *KEY, "message_id AS waiting_id", "entered_ms", "recipients", "ref AS waiting_ref", "queue"
    )
    owned = tables.primaries.where("born IS NOT NULL").selectExpr(
        *KEY, "message_id", "born.ref AS born_ref"
    )
    unhealed = (
        tables.windows.where(f"over_ms = {FOREVER_MS}")
        .groupBy("run")
        .agg(F.expr("array_join(array_sort(collect_list(fault)), ', ') AS unhealed"))
    )
    known = (
        joined(owned, waiting, KEY, "full")
        .join(listings(tables), ["run", "server"], "left")
        .join(unhealed, "run", "left")
        .transform(joined, tables.record.runs.select("run", "end_ms"), "run")
    )
    return known.selectExpr(
        *case(
            status="CASE WHEN waiting_id IS NULL THEN IF(listed IS NULL, 'unknown', 'holds') "
            "WHEN unhealed IS NOT NULL THEN 'unknown' ELSE 'violated' END",
            subject="coalesce(waiting_id, message_id)",
            detail=f"CASE WHEN waiting_id IS NULL THEN {sentence(UNLISTED)} "
            f"WHEN unhealed IS NOT NULL THEN {sentence(STUCK)} ELSE {sentence(WAITING)} END",
            at_ms="coalesce(entered_ms, end_ms)",
            refs="waiting_ref, born_ref",
            requirements="array()",
            weight="end_ms - entered_ms",
        )
    )


CLAIM = Claim("drains_after_heal", (), cases)
