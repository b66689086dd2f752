"""Failovers that Active Manager decided on by itself, and the logs that the copy before had (TP-6).

Each delivery into an active copy is a log, of a probe too, and so is each mount.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.safety_net.failover_on_time import NEED_MS
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.copy_deliveries import deliveries_into
from spark_eval.as_tables.transforms.troubles import NO_TROUBLES
from spark_eval.spark.joins import joined, small

DATABASE, CHANGE = ["run", "database"], ["run", "database", "epoch"]
COPY = ["run", "database", "before_epoch", "from"]
BY_ITSELF = "kind = 'failover' AND NOT startswith(cause, 'asked for') AND cause <> 'found active'"
_FIRST = (
    "array_min(transform(filter(troubles, x -> x.lo <= silent_ms "
    "AND x.hi >= silent_ms - need_ms), x -> x.lo))"
)


def own_failovers(tables: Tables) -> DataFrame:
    """One row a change: `to`, `from`, `mounted`, `before_epoch`, `cause`, `decided_ms`,
    `decided_ref`; `manager`, its `kills` and `eras`, the `troubles` of its way to the copy before,
    and `need_ms`, within which it surely asks a copy that nothing keeps from answering; `policy`,
    `to_site`, `from_site`.

    `silent_ms`: when the copy before was silent for the last time; `last_well_ms`: the same, or the
    first trouble within `need_ms` of it. `first_log`, `since_ms`, `made`: the log of the mount of
    the copy before, when that was, and when each other log was made; `had_new`: the last log of
    the new one before its mount.
    """
    known = (
        _decisions(tables)
        .join(_silences(tables), [*CHANGE, "from"], "left")
        .join(_logs(tables), COPY, "left")
    )
    return known.selectExpr(
        "*",
        "mounted.last_log - 1 AS had_new",
        f"least(silent_ms, coalesce({_FIRST}, silent_ms)) AS last_well_ms",
    )


def _decisions(tables: Tables) -> DataFrame:
    """One row a change that Active Manager made by itself: `to`, `from`, `mounted`, `before_epoch`,
    `cause`, `decided_ms`, `decided_ref`; `manager`, its history, and the `troubles` of its way to
    the copy before; `policy` of the new one's server, and both sites.
    """
    known = tables.resubmission
    assert known is not None
    decided = tables.record.lifecycle.where("event = 'failover-decided'").groupBy(*CHANGE)
    first = decided.agg(F.expr("min_by(struct(at_ms, server, ref), at_ms) AS decided")).selectExpr(
        *CHANGE, "decided.server AS manager", "decided.at_ms AS decided_ms",
        "decided.ref AS decided_ref",
    )  # fmt: skip
    managers = tables.histories.selectExpr(
        "run", "server AS manager", "kills", "eras", f"{NEED_MS} AS need_ms"
    )
    ways = tables.troubles.where("service = 'management'").selectExpr(
        "run", "server AS manager", "peer AS `from`", "troubles"
    )
    servers = tables.record.servers
    to = servers.selectExpr("run", "server AS `to`", "auto_activation AS policy", "site AS to_site")
    before = servers.selectExpr("run", "server AS `from`", "site AS from_site")
    return (
        known.transitions.where(BY_ITSELF)
        .select(*CHANGE, "before_epoch", "from", "to", "mounted", "cause")
        .transform(joined, first, CHANGE)
        .transform(joined, small(managers), ["run", "manager"])
        .transform(joined, small(to), ["run", "to"])
        .transform(joined, small(before), ["run", "from"])
        .join(small(ways), ["run", "manager", "from"], "left")
        .withColumn("troubles", F.expr(f"coalesce(troubles, {NO_TROUBLES})"))
    )


def _silences(tables: Tables) -> DataFrame:
    """`silent_ms`: when the copy before was silent for the last time before another was decided
    on.
    """
    rows = tables.record.lifecycle
    decided = rows.where("event = 'failover-decided'").selectExpr(*CHANGE, "at_ms AS decided_ms")
    silent = rows.where("event = 'copy-silent'").selectExpr(*DATABASE, "peer AS `from`", "at_ms")
    before = joined(decided, silent, DATABASE).where("at_ms <= decided_ms")
    return before.groupBy(*CHANGE, "from").agg(F.max("at_ms").alias("silent_ms"))


def _logs(tables: Tables) -> DataFrame:
    """Of a copy while it was active: `first_log`, the one of its mount, `since_ms`, and when each
    other was `made`.
    """
    known = tables.resubmission
    assert known is not None
    mounts = tables.record.lifecycle.where("event = 'database-mounted'").groupBy(
        *DATABASE, F.col("epoch").alias("before_epoch"), F.col("server").alias("from")
    )
    first = mounts.agg(F.expr("min(last_log) AS first_log"), F.min("at_ms").alias("since_ms"))
    into = known.into.unionByName(deliveries_into(tables.record.probes, known.actives))
    taken = into.where("event = 'DELIVER'").groupBy(
        *DATABASE, F.col("epoch").alias("before_epoch"), F.col("copy").alias("from")
    )
    made = taken.agg(F.expr("collect_list(at_ms) AS made"))
    return first.join(made, COPY, "left").withColumn(
        "made", F.expr("coalesce(made, CAST(array() AS array<bigint>))")
    )
