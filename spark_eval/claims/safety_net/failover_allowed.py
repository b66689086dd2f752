"""failover_allowed: Active Manager mounts by itself no copy that it is not to (TP-6).

Asks each failover that nobody asked for, where the new copy was mounted, two questions. The
DatabaseCopyAutoActivationPolicy of the new copy's server permits it: it is not Blocked, and where
it is IntrasiteOnly both servers are of one site. And the new copy lacked no more logs than
AutoDatabaseMountDial allows of those that Active Manager surely knew of. The logs of the new copy
count as it was mounted, those of the copy before as they were NEED_MS (`failover_on_time`) before

    that one was silent for Active Manager
    or, if that is earlier, the first trouble within that time of the way to it, or of either end.

Each delivery is a log (of a probe too), and so is each mount; Active Manager writes down what it
hears of them, so a restart is no excuse.

Not asked about logs: a copy that did answer; where another trouble lies before the first, or Active
Manager lost its database, or had no room for it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.claims.claim import Claim, case
from spark_eval.claims.safety_net.failover_on_time import DIAL, NEED_MS
from spark_eval.claims.safety_net.resubmission_complete import may_ask
from spark_eval.expected.tables import Tables
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated
from spark_eval.transforms.copy_deliveries import deliveries_into
from spark_eval.transforms.troubles import NO_TROUBLES

DATABASE, CHANGE = ["run", "database"], ["run", "database", "epoch"]
COPY = ["run", "database", "before_epoch", "from"]
BY_ITSELF = "kind = 'failover' AND NOT startswith(cause, 'asked for') AND cause <> 'found active'"
_FIRST = (
    "array_min(transform(filter(troubles, x -> x.lo <= silent_ms "
    "AND x.hi >= silent_ms - need_ms), x -> x.lo))"
)
FULL = "transform(filter(kills, k -> k.kind = 'fill_disk'), k -> k.possible)"
HAD = "first_log + size(filter(made, t -> t <= known_ms))"
_SAID = "{manager} activated {database} on {to} by itself at {@decided_ms}; "
_POLICY = cases_of(
    ("policy = 'Blocked'", violated(_SAID + "its DatabaseCopyAutoActivationPolicy is Blocked")),
    ("policy = 'IntrasiteOnly' AND from_site <> to_site",
     violated(_SAID + "its DatabaseCopyAutoActivationPolicy is IntrasiteOnly, and {from} is of "
              "another site")),
    otherwise=holds(),
)  # fmt: skip
_LOGS = cases_of(
    ("NOT startswith(cause, 'silent') OR silent_ms IS NULL", not_asked()),
    ("first_log IS NULL OR mounted.last_log IS NULL", not_asked()),
    (overlaps("troubles", "known_ms", "known_ms + need_ms - 1"), not_asked()),
    (f"size(eras) > 1 OR {overlaps(FULL, 'known_ms', 'decided_ms')}", not_asked()),
    (
        f"had - had_new > {DIAL}",
        violated(
            _SAID + "that copy had {had_new} logs, and the one on {from} had {had} at {@known_ms}"
        ),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    known = (
        _decisions(tables)
        .join(_silences(tables), [*CHANGE, "from"], "left")
        .join(_logs(tables), COPY, "left")
        .withColumn("had_new", F.expr("mounted.last_log - 1"))
    )
    timed = known.selectExpr(
        "*", f"least(silent_ms, coalesce({_FIRST}, silent_ms)) - need_ms AS known_ms"
    )
    judged = timed.selectExpr("*", f"{HAD} AS had").selectExpr(
        "*", f"inline(array(named_struct('j', {_POLICY}), named_struct('j', {_LOGS})))"
    )
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="concat(`database`, ':', epoch, ' on ', `to`)",
            detail="j.reason",
            at_ms="decided_ms",
            refs="decided_ref, mounted.ref",
            requirements="array('TP-6')",
            weight="had - had_new",
        )
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
    """Of a copy while it was active: `first_log`, the one of its mount, and when each other was
    `made`.
    """
    known = tables.resubmission
    assert known is not None
    mounts = tables.record.lifecycle.where("event = 'database-mounted'").groupBy(
        *DATABASE, F.col("epoch").alias("before_epoch"), F.col("server").alias("from")
    )
    first = mounts.agg(F.expr("min(last_log) AS first_log"))
    into = known.into.unionByName(deliveries_into(tables.record.probes, known.actives))
    taken = into.where("event = 'DELIVER'").groupBy(
        *DATABASE, F.col("epoch").alias("before_epoch"), F.col("copy").alias("from")
    )
    made = taken.agg(F.expr("collect_list(at_ms) AS made"))
    return first.join(made, COPY, "left").withColumn(
        "made", F.expr("coalesce(made, CAST(array() AS array<bigint>))")
    )


CLAIM = Claim("failover_allowed", ("TP-6",), cases, may_ask)
