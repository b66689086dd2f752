"""best_copy_mounted: Active Manager mounts by itself no copy while another one is better (TP-6).

Asks each failover that nobody asked for once for each copy of the database that was passed over.
Better is the copy with more logs, and of equals the one with the lower activation preference. What
the mounted copy had is in the row of its mount; the other one had at least the logs that were made

    LATE_MS (`copies_follow`), within which logs are shipped, and then
    NEED_MS (`failover_on_time`), within which a copy is asked what it has,

before the copy before was silent for Active Manager, or in trouble. Whether the mounted copy may
lack so many logs is the question of `failover_allowed`.

Not asked: a failed or a lagged copy, or one that DatabaseCopyAutoActivationPolicy forbids; where
the way for logs was in trouble while they had to be shipped, or Active Manager's way to the copy
from then on; where the copy before was mounted less than LATE_MS before, or Active Manager has lost
its database.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.safety_net.copies_follow import CATCHING_UP, LATE_MS
from spark_eval.as_tables.claims.safety_net.own_failovers import DATABASE, own_failovers
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.troubles import NO_TROUBLES
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

_FORBIDDEN = (
    "other_policy = 'Blocked' OR (other_policy = 'IntrasiteOnly' AND from_site <> other_site)"
)
HAD = "first_log + size(filter(made, t -> t <= shipped_ms))"
_MORE = (
    "{manager} activated {database} on {to} by itself at {@decided_ms}; that copy had {had_new} "
    "logs, and the one on {other} {had} or more"
)
_JUDGED = cases_of(
    (f"is_lagged OR failed_ms <= decided_ms OR {_FORBIDDEN}", not_asked()),
    ("last_well_ms IS NULL OR first_log IS NULL OR had_new IS NULL", not_asked()),
    ("size(eras) > 1 OR since_ms > shipped_ms - late_ms", not_asked()),
    (overlaps(CATCHING_UP, "shipped_ms", "asked_ms"), not_asked()),
    (overlaps("to_manager", "asked_ms", "decided_ms"), not_asked()),
    ("had > had_new", violated(_MORE)),
    ("had = had_new AND other_preference < to_preference", violated(_MORE + ", and is preferred")),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    timed = (
        _passed_over(tables)
        .withColumn("asked_ms", F.expr("last_well_ms - need_ms"))
        .withColumn("shipped_ms", F.expr("asked_ms - late_ms"))
    )
    judged = timed.selectExpr("*", f"{HAD} AS had").selectExpr("*", f"{_JUDGED} AS j")
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="concat(`database`, ':', epoch, ' on ', `to`, ', not on ', other)",
            detail="j.reason",
            at_ms="decided_ms",
            refs="decided_ref, mounted.ref",
            requirements="array('TP-6')",
            weight="had - had_new",
        )
    )


def _passed_over(tables: Tables) -> DataFrame:
    """`own_failovers`, each with every `other` copy that was not mounted: `other_policy`,
    `other_site`, `other_preference` beside `to_preference`, `is_lagged`, `failed_ms`; `troubles` of
    its way from the copy before, which ships logs within `late_ms`, and `to_manager`, those of
    Active Manager's way to it.
    """
    copies = tables.record.database_copies
    chosen = copies.selectExpr(*DATABASE, "server AS `to`", "preference AS to_preference")
    ships = tables.histories.selectExpr(
        "run", "server AS `from`", "timeout_ms", f"{LATE_MS} AS late_ms"
    )
    return (
        own_failovers(tables)
        .drop("troubles")
        .transform(joined, small(chosen), [*DATABASE, "to"])
        .transform(joined, small(_others(tables)), DATABASE)
        .where("other NOT IN (`from`, `to`)")
        .transform(joined, small(ships), ["run", "from"])
        .join(_ways(tables, "replication", "from", "troubles"), ["run", "from", "other"], "left")
        .join(
            _ways(tables, "management", "manager", "to_manager"),
            ["run", "manager", "other"],
            "left",
        )
        .withColumns(
            {
                name: F.expr(f"coalesce({name}, {NO_TROUBLES})")
                for name in ("troubles", "to_manager")
            }
        )
    )


def _others(tables: Tables) -> DataFrame:
    record = tables.record
    told = record.lifecycle.where("event = 'copy-failed'").selectExpr(
        *DATABASE, "inline(array(struct(server AS other, at_ms), struct(peer AS other, at_ms)))"
    )
    failed = told.groupBy(*DATABASE, "other").agg(F.min("at_ms").alias("failed_ms"))
    servers = record.servers.selectExpr(
        "run", "server AS other", "auto_activation AS other_policy", "site AS other_site"
    )
    return (
        record.database_copies.selectExpr(
            *DATABASE, "server AS other", "preference AS other_preference", "is_lagged"
        )
        .join(failed, [*DATABASE, "other"], "left")
        .transform(joined, small(servers), ["run", "other"])
    )


def _ways(tables: Tables, service: str, server: str, troubles: str) -> DataFrame:
    return small(
        tables.troubles.where(f"service = '{service}'").selectExpr(
            "run", f"server AS `{server}`", "peer AS other", f"troubles AS {troubles}"
        )
    )


CLAIM = Claim("best_copy_mounted", ("TP-6",), cases, lambda tables: tables.scope.may_choose)
