"""Whether what came back from a Safety Net was called for: of a failover's database and interval,
for mailboxes of that database alone, from servers of its boundary, once for one request; and what
left the boundary stayed away (SN-8, SN-12).

A copy is named by its server, its internal id there and the request. One failover after another may
give a message back twice; one request may not.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, unknown, violated

LOSSLESS = "is_orderly AND lost_ms IS NULL"
NAMED = "{server}: {request_id}"
OUTSIDE = "outside"

_JUDGED = cases_of(
    ("times > 1", violated(
        f"{NAMED} resubmitted its copy {{copy_internal_id}} {{times}} times", "twice")),
    ("asked_epoch IS NULL", violated(f"{NAMED} names no failover", OUTSIDE)),
    ("destination <> asked_database", violated(f"{NAMED} resubmitted to {{destination}}", OUTSIDE)),
    ("size(strangers) > 0", violated(
        f"{NAMED} resubmitted for {{array_join(strangers, ', ')}}, no mailbox of "
        "{destination}", OUTSIDE)),
    ("at_home IS NULL", violated(
        f"{NAMED} resubmitted to {{destination}}, which is in another boundary", OUTSIDE)),
    ("known_epoch IS NULL AND told_epoch IS NOT NULL", unknown(
        f"{NAMED} belongs to a failover of which only Active Manager tells")),
    ("known_epoch IS NULL", violated(f"{NAMED} belongs to no failover", OUTSIDE)),
    (LOSSLESS, violated(f"{NAMED} follows a switchover that lost nothing", OUTSIDE)),
    ("delivered_at_ms < outside_before_ms", violated(
        f"{NAMED} resubmitted what was delivered at {{@delivered_at_ms}}; the last log "
        "that {to} replayed is not older than {@survived_ms}", OUTSIDE)),
    ("safety_net = 'primary' AND delivered_at_ms > outside_after_ms", violated(
        f"{NAMED} resubmitted what it delivered at {{@delivered_at_ms}}, and knew of {{to}} at "
        "{@last_learnt.at_ms}", OUTSIDE)),
    otherwise=holds(),
)  # fmt: skip


def came_back(
    given: DataFrame, asked: DataFrame, mailboxes: DataFrame, told: DataFrame, homes: DataFrame
) -> DataFrame:
    """One row a copy and request: `times`, and `j`, its judgement."""
    once = given.groupBy(
        "run", "server", "database_id", "request_id", "copy_internal_id", "safety_net",
        "asked_database", "asked_epoch", "destination",
    ).agg(
        F.count("*").alias("times"),
        F.min("message_id").alias("message_id"),
        F.min("delivered_at_ms").alias("delivered_at_ms"),
        F.expr("flatten(collect_list(recipients)) AS recipients"),
        F.expr("array_sort(collect_list(struct(at_ms, ref))) AS rows"),
    )  # fmt: skip
    boxes = mailboxes.groupBy("run", F.col("database").alias("destination")).agg(
        F.collect_set("mailbox").alias("boxes")
    )
    bounds = asked.selectExpr(
        "run", "`database` AS asked_database", "epoch AS asked_epoch", "epoch AS known_epoch",
        "server", "is_orderly", "lost_ms", "survived_ms", "`to`", "outside_before_ms",
        "outside_after_ms", "last_learnt",
    )  # fmt: skip
    inside = homes.selectExpr("run", "`database` AS destination", "server", "true AS at_home")
    beside = (
        once.join(boxes, ["run", "destination"], "left")
        .join(bounds, ["run", "asked_database", "asked_epoch", "server"], "left")
        .join(told, ["run", "asked_database", "asked_epoch"], "left")
        .join(inside, ["run", "destination", "server"], "left")
    )
    none = "CAST(array() AS array<string>)"
    return beside.selectExpr(
        "*", f"array_distinct(array_except(recipients, coalesce(boxes, {none}))) AS strangers"
    ).selectExpr("*", f"{_JUDGED} AS j")


def left(hops: DataFrame, asked: DataFrame, given: DataFrame) -> DataFrame:
    """One row a copy that left the boundary for good, at a time that surely lies in an interval for
    which the Safety Net of its server was asked: `at_ms`, `ref`, `peers`, `recipients`, `again`
    (struct: the request that gave it back to one of them, null where none did).
    """
    copy = ["run", "server", "database_id", "internal_id"]
    intervals = asked.where("request IS NOT NULL").select(
        "run", "server", "inside_from_ms", "inside_to_ms"
    )
    gone = hops.where("left").transform(joined, intervals, ["run", "server"])
    inside = gone.where("at_ms >= inside_from_ms AND at_ms < inside_to_ms")
    once = inside.groupBy(*copy).agg(
        F.max("message_id").alias("message_id"),
        F.expr("min(struct(at_ms, ref)) AS first"),
        F.expr("array_sort(collect_set(peer)) AS peers"),
        F.expr("array_distinct(flatten(collect_list(recipients))) AS gone_to"),
    )
    back = given.where("safety_net = 'primary'").selectExpr(
        "run", "server", "database_id", "copy_internal_id AS internal_id", "recipients",
        "struct(at_ms, request_id, ref) AS again",
    )  # fmt: skip
    known = once.join(back, copy, "left").withColumn(
        "is_back", F.expr("coalesce(arrays_overlap(recipients, gone_to), false)")
    )
    return known.groupBy(*copy, "message_id", "first", "peers").agg(
        F.expr("min(again) FILTER (WHERE is_back) AS again")
    )


def told(lifecycle: DataFrame) -> DataFrame:
    """Failovers by Active Manager's word: `asked_database`, `asked_epoch`, `told_epoch`."""
    mounted = lifecycle.where("event = 'failover-mounted'")
    return mounted.selectExpr(
        "run", "`database` AS asked_database", "epoch AS asked_epoch", "epoch AS told_epoch"
    ).distinct()
