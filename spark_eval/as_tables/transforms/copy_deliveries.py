"""What was brought into mailbox databases of several copies, and which of it was lost with a copy.

Two voices: the server of the copy logs each delivery (DELIVER), the primary each fork that it has
brought there. A delivery was lost with the copy that it went to when a later copy took the same
message for the same recipient again, or when the recipient does not see it at the end. That a later
copy took it again shows nothing where its duplicate detection window was over by then (DD-4), or
where the recipient sees every delivery.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined, small
from spark_eval.spark.partitions import together

PRIMARY = ["run", "server", "database_id", "internal_id"]
CHANGE = ["run", "database", "epoch"]
MAIL = ["run", "database", "message_id", "recipient"]
STORED = "source = 'STOREDRIVER' AND event IN ('DELIVER', 'DUPLICATEDELIVER')"
SENT = "event = 'SEND' AND startswith(fork, 'database:')"
INTO = "IF(event = 'SEND', substring(fork, 10), substring(context, 5)) AS `database`"
DECIDED = "('failover-decided', 'database-mounted')"
PLACED = "coalesce(mono_ns, at_ms)"


def deliveries_into(tracking: DataFrame, actives: DataFrame) -> DataFrame:
    """One row a row of a delivery into an active copy, by either voice: `copy` (its server),
    `epoch` under which it was active, and the tracking row.
    """
    rows = tracking.where(f"internal_id IS NOT NULL AND (({STORED}) OR ({SENT}))").selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id", "message_id",
        "event", "recipients", INTO, "IF(event = 'SEND', peer, server) AS copy", "at_ms",
        "mono_ns", "ref",
    )  # fmt: skip
    held = actives.groupBy("run", "database", F.col("server").alias("copy")).agg(
        F.expr("collect_list(struct(epoch, coalesce(mounted.mono_ns, mounted.at_ms) AS since)) e")
    )
    since = f"coalesce(x.since <= {PLACED}, true)"
    known = joined(rows, small(held), ["run", "database", "copy"]).selectExpr(
        "*", f"array_max(transform(filter(e, x -> {since}), x -> x.epoch)) AS epoch"
    )
    return known.where("epoch IS NOT NULL").drop("e")


def landed(into: DataFrame, visible: DataFrame, databases: DataFrame) -> DataFrame:
    """One row a message, recipient and database that took it: `taken`, an array of (epoch, at_ms,
    copy, ref) in order; `seen`, whether the recipient sees it at the end, `all_seen`, as often as
    it was taken; `window_ms`, for how long that database knows it again.
    """
    taken = into.where("event = 'DELIVER'").selectExpr(
        "run", "database", "message_id", "explode(recipients) AS recipient",
        "struct(epoch, at_ms, copy, ref) AS row",
    )  # fmt: skip
    grouped = taken.groupBy(*MAIL).agg(F.expr("array_sort(collect_list(row)) AS taken"))
    boxes = visible.where("kind = 'mailbox'").selectExpr(
        "run", "place AS `database`", "message_id", "recipient"
    )
    shown = boxes.groupBy(*MAIL).agg(F.count("*").alias("shown"))
    windows = small(databases.select("run", "database", "window_ms"))
    known = grouped.transform(joined, windows, ["run", "database"])
    return known.join(shown, MAIL, "left").selectExpr(
        *MAIL,
        "taken",
        "window_ms",
        "shown IS NOT NULL AS seen",
        "coalesce(shown >= size(taken), false) AS all_seen",
    )


def brought(into: DataFrame, primaries: DataFrame, dsns: DataFrame) -> DataFrame:
    """One row a database and a message that its server answered for, which it does for a DSN that
    it made, too: `recipients`, `at_ms`, `copy`, `epoch`, `ref`.
    """
    taken_on = primaries.where("born IS NOT NULL OR loaded IS NOT NULL").select(*PRIMARY)
    made = dsns.withColumnRenamed("report_id", "internal_id").select(*PRIMARY)
    owned = together(taken_on.union(made)).distinct()
    forks = into.groupBy(*PRIMARY, "database").agg(
        F.expr("max(message_id) AS message_id"),
        F.expr("array_sort(array_distinct(flatten(collect_list(recipients)))) AS recipients"),
        F.expr(f"min_by(struct(at_ms, copy, epoch, ref), struct({PLACED}, ref)) AS row"),
    )
    return joined(forks, owned, PRIMARY).selectExpr(
        *PRIMARY, "database", "message_id", "recipients", "row.at_ms AS at_ms",
        "row.copy AS copy", "row.epoch AS epoch", "row.ref AS ref",
    )  # fmt: skip


def _returns(changes: DataFrame, lifecycle: DataFrame) -> DataFrame:
    """`run`, `database`, `mounts` and `seeds`: when which server's copy was made active, and made
    anew from another one; `decided`, when which epoch began, mounted or not.
    """
    mounts = changes.groupBy("run", "database").agg(
        F.expr("collect_list(struct(epoch, `to`, mounted.mono_ns AS at_ns)) AS mounts")
    )
    seeded = lifecycle.where("event = 'copy-seeded-here'")
    seeds = seeded.groupBy("run", "database").agg(
        F.expr("collect_list(struct(server, mono_ns AS at_ns)) AS seeds")
    )
    begun = lifecycle.where(f"event IN {DECIDED} AND epoch > 0").groupBy("run", "database")
    decided = begun.agg(F.expr("collect_list(struct(epoch, at_ms)) AS decided"))
    return mounts.join(seeds, ["run", "database"], "left").join(
        decided, ["run", "database"], "left"
    )


# a copy that is active again, and was not made anew meanwhile, has what it had: nothing that shows
# what the copy between them had
_CAME_BACK = """exists(mounts, m -> m.epoch > epoch AND m.`to` = t.copy AND NOT coalesce(
  exists(seeds, s -> s.server = t.copy AND s.at_ns > mounted_ns AND s.at_ns < m.at_ns), false))"""
# what a copy took by itself after another one was to be active shows nothing of what that one took
_APART = """coalesce(exists(decided, d -> d.epoch > t.epoch AND d.epoch < epoch
  AND d.at_ms <= t.at_ms), false)"""
# a row that a kill swallowed may make what was lost look as if it had been there
SURVIVED = "array_max(filter(kept, k -> coalesce(k <= lost.at_ms, true)))"


def limits(changes: DataFrame, landed: DataFrame, lifecycle: DataFrame) -> DataFrame:
    """`changes` with `survived_ms`, the last delivery before it that the new copy has, `lost_ms`,
    the first that it lacked, and `lost_ref`: the last log that it replayed lies between them.
    """
    each = (
        changes.selectExpr(*CHANGE, "before_epoch", "is_last", "mounted.mono_ns AS mounted_ns")
        .transform(joined, landed, ["run", "database"])
        .join(small(_returns(changes, lifecycle)), ["run", "database"], "left")
    )
    later = "exists(taken, t -> t.epoch >= epoch)"
    before = "filter(taken, t -> t.epoch < epoch)"
    shows = f"seen AND NOT {later} AND forall({before}, t -> NOT {_CAME_BACK} AND NOT {_APART})"
    lost = (
        "filter(taken, t -> t.epoch = before_epoch AND NOT all_seen "
        "AND (exists(taken, u -> u.epoch = epoch AND u.at_ms - t.at_ms <= window_ms) "
        f"OR (is_last AND NOT seen AND NOT {later})))"
    )
    told = each.selectExpr(
        "run", "database", "epoch",
        # of what was taken several times, the first alone may be there
        f"IF({shows}, array_min(transform({before}, t -> t.at_ms)), NULL) AS kept_ms",
        f"array_min(transform({lost}, t -> struct(t.at_ms, t.ref))) AS lost",
    )  # fmt: skip
    bounds = told.groupBy("run", "database", "epoch").agg(
        F.collect_set("kept_ms").alias("kept"), F.min("lost").alias("lost"),
        F.count("lost").alias("lost_deliveries"),
    )  # fmt: skip
    return changes.join(bounds, ["run", "database", "epoch"], "left").selectExpr(
        *changes.columns, f"{SURVIVED} AS survived_ms", "lost.at_ms AS lost_ms",
        "lost.ref AS lost_ref", "coalesce(lost_deliveries, 0L) AS lost_deliveries",
    )  # fmt: skip
