"""How long a copy of a mailbox database may take mail after another one was mounted (TP-4).

Its server may not know of the other copy yet. It surely does when Active Manager could reach both
servers for as long as it needs to notify them (`expected.safety_net_requests`), or the other copy
had logs to ship to it, and could, for as long. Faults alone prolong that; a word that says it knew
earlier ends it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.expected.safety_net_requests import NEED_MS, NO_CUTS
from spark_eval.as_tables.transforms.failovers import CHANGE
from spark_eval.as_tables.transforms.troubles import NO_TROUBLES, prolonged
from spark_eval.spark.joins import joined
from spark_eval.sql.intervals import FOREVER_MS, INTERVAL, first_clear

STATES = "('database-mounted', 'database-dismounted', 'copy-passive', 'copy-opened')"
COPY = ["run", "database", "server"]


def words(lifecycle: DataFrame) -> DataFrame:
    """`run`, `database`, `server`, `words`: what each server said of its copy, in order: `placed`,
    `at_ms`, `event`, `epoch`, `ref`. The last word counts: mounted, or not.
    """
    row = "struct(coalesce(mono_ns, at_ms) AS placed, at_ms, event, epoch, ref)"
    told = lifecycle.where(f"database IS NOT NULL AND event IN {STATES}")
    return told.groupBy(*COPY).agg(F.expr(f"array_sort(collect_list({row})) AS words"))


def reigns(
    actives: DataFrame, into: DataFrame, asked: DataFrame, troubles: DataFrame, servers: DataFrame
) -> DataFrame:
    """One row a copy that was active under `epoch` and a later mount of another copy, on `to` under
    `later_epoch`: `mounted`, `learnt` (structs), `known_by_ms`, `end_ms`.
    """
    before = actives.selectExpr(*COPY, "epoch AS own_epoch")
    reached = asked.selectExpr(*CHANGE, "server AS `to`", "outages AS to_outages")
    first = into.where("event <> 'SEND'").groupBy("run", "database", "epoch", "copy")
    took = first.agg(F.min("at_ms").alias("took_ms")).withColumnRenamed("copy", "to")
    ships = troubles.where("service = 'replication'").selectExpr(
        "run", "server AS `to`", "peer AS server", "troubles"
    )
    waits = servers.selectExpr("run", "server AS `to`", "timeout_ms AS to_timeout_ms")
    known = (
        asked.where("`to` <> server")
        .transform(joined, before, COPY)
        .where("epoch > own_epoch")
        .join(reached, [*CHANGE, "to"], "left")
        .join(took, [*CHANGE, "to"], "left")
        .join(ships, ["run", "to", "server"], "left")
        .join(waits, ["run", "to"], "left")
    )
    away = f"concat(outages, coalesce(to_outages, {NO_CUTS}))"
    late = prolonged(f"coalesce(troubles, {NO_TROUBLES})", "coalesce(to_timeout_ms, 0L)")
    told = f"{first_clear('mounted.at_ms', 'not_reached', NEED_MS)} + {NEED_MS}"
    shipped = f"{first_clear('took_ms', 'not_shipped', NEED_MS)} + {NEED_MS}"
    return known.selectExpr(
        "*", f"CAST({away} AS array<{INTERVAL}>) AS not_reached", f"{late} AS not_shipped"
    ).selectExpr(
        *COPY, "own_epoch AS epoch", "epoch AS later_epoch", "`to`", "mounted", "learnt", "end_ms",
        f"least({told}, IF(took_ms IS NULL, {FOREVER_MS}, {shipped})) AS known_by_ms",
    )  # fmt: skip
