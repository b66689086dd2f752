"""Whether what came back from a Safety Net was called for: of a failover's database and interval,
for mailboxes of that database alone, once for one request (SN-8, SN-12).

A copy is named by its server, its internal id there and the request. One failover after another may
give a message back twice; one request may not.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.sentences import cases as cases_of
from spark_eval.sentences import holds, unknown, violated

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
    given: DataFrame, asked: DataFrame, mailboxes: DataFrame, told: DataFrame
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
    beside = (
        once.join(boxes, ["run", "destination"], "left")
        .join(bounds, ["run", "asked_database", "asked_epoch", "server"], "left")
        .join(told, ["run", "asked_database", "asked_epoch"], "left")
    )
    none = "CAST(array() AS array<string>)"
    return beside.selectExpr(
        "*", f"array_distinct(array_except(recipients, coalesce(boxes, {none}))) AS strangers"
    ).selectExpr("*", f"{_JUDGED} AS j")


def told(lifecycle: DataFrame) -> DataFrame:
    """Failovers by Active Manager's word: `asked_database`, `asked_epoch`, `told_epoch`."""
    mounted = lifecycle.where("event = 'failover-mounted'")
    return mounted.selectExpr(
        "run", "`database` AS asked_database", "epoch AS asked_epoch", "epoch AS told_epoch"
    ).distinct()
