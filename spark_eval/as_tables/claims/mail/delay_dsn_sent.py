"""delay_dsn_sent: whose mail waits for DelayNotificationTimeout is notified once, and nobody else
(RT-5).

Asks every message that a server made a DSN of delay for, and every one that surely waited there
that long: from when the server accepted or promoted it to when the last recipient was served or
given up, or its queue database was lost. A server that is away then makes the DSN when it is back.
There is none of what came from a Safety Net, which a promoted shadow of it did, too (SN-10). A
server that accepted a message twice may notify twice. The DSN says so of somebody, and of
recipients of the message alone (RFC 3464). What is made within a heartbeat before the end may be
seen after it. Not asked is who sees no DSN, where it was given up itself, or lost
(`expected.dsns_given_up`).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected import calls
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms import dsns
from spark_eval.as_tables.transforms.primaries import KEY
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import FOREVER_MS, overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, unknown, violated

MAIL = ["run", "message_id"]
AT = ["run", "server", "message_id"]
_JUDGED = cases_of(
    ("sent.n > coalesce(may, 0L)", violated(
        "{server} notifies {sender} {sent.n} times of a delay; {coalesce(may, 0L)} of it "
        "waited there for DelayNotificationTimeout")),
    ("sent.first_ms < least_ms", violated(
        "{server} notifies {sender} of a delay at {@sent.first_ms}, before {@least_ms}")),
    ("NOT coalesce(tellable, false)", not_asked()),
    ("coalesce(sent.n, 0L) < must AND is_blind", unknown(
        "the tracking log of {server} has a hole there")),
    ("coalesce(sent.n, 0L) < must", violated(
        "it waits at {server} beyond {@due_ms}, and no DSN notifies {sender}")),
    ("sent IS NULL OR sent.last_ms > end_ms - heartbeat_ms", not_asked()),
    ("NOT sender_collected", unknown("the record of what {sender} sees was not collected")),
    ("seen IS NULL AND dsn_given_up_ref IS NOT NULL", not_asked()),
    ("seen IS NULL", violated("delayed, and {sender} never saw the DSN")),
    ("size(named) = 0", violated("delayed, and the DSN to {sender} says so of nobody")),
    ("size(array_except(named, whom)) > 0", violated(
        "{sender} is notified of a delay for {array_join(array_except(named, whom), ' and ')}, "
        "for whom it does not wait")),
    otherwise=holds(),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    delayed = tables.dsns.where(dsns.OF_DELAY)
    sent = delayed.groupBy(*AT).agg(
        F.expr("struct(count(*) AS n, min(at_ms) AS first_ms, max(at_ms) AS last_ms, "
               "min(ref) AS ref) AS sent")
    )  # fmt: skip
    notified = dsns.notified(delayed, tables.record.visible, dsns.SAYS_DELAYED)
    seen = notified.groupBy(*MAIL).agg(
        F.min("dsn_ref").alias("seen"), F.max("named").alias("named")
    )
    known = (
        joined(_waiting(tables), sent, AT, "full")
        .where("sent IS NOT NULL OR must > 0")
        .join(seen, MAIL, "left")
        .join(tables.senders.select(*MAIL, "sender", "tellable", "sender_collected"), MAIL, "left")
        .join(tables.delay_dsns_given_up, [*MAIL, "sender"], "left")
        .transform(joined, small(tables.record.runs.select("run", "end_ms", "heartbeat_ms")), "run")
    )
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="coalesce(sent.first_ms, due_ms)",
            refs="since_ref, sent.ref, seen",
            requirements="array('RT-5')",
        )
    )


def _waiting(tables: Tables) -> DataFrame:
    """One row a message and server that may have had to notify of it: `may` and `must`, how often;
    `least_ms`, when at the earliest, `due_ms`, by when the first that surely waited; `is_blind`.
    """
    settings = tables.histories.selectExpr(
        "run", "server", "delay_ms", "expiration_ms", "session_ms", "end_ms", "kills", "eras",
        "blind", "askew_ms + finest_ms AS vague_ms", f"{calls.SLACK} AS slack_ms",
    )  # fmt: skip
    known = (
        tables.primaries.where("born IS NOT NULL OR loaded IS NOT NULL")
        .transform(joined, tables.forks.select(*KEY, "served_ms"), list(KEY))
        .transform(joined, small(settings), ["run", "server"])
        .transform(_without_what_came_back, tables.came_back)
    )
    timed = known.selectExpr(
        *AT, "vague_ms", "end_ms", "blind",
        "delay_ms < expiration_ms AND NOT may_be_back AS is_notified_first",
        "coalesce(born.ref, loaded.ref) AS since_ref",
        "coalesce(born.recipients, loaded.recipients) AS recipients",
        "coalesce(born.at_ms, loaded.at_ms) + delay_ms AS from_ms",
        "coalesce(born.at_ms, loaded.at_ms) + delay_ms + slack_ms "
        "+ IF(born.event <=> 'RECEIVE', 0L, session_ms) AS calm_ms",
        "kills", "slack_ms",
        f"least(coalesce(served_ms, {FOREVER_MS}), coalesce(try_element_at(filter(eras, "
        f"e -> e.id = database_id), 1).lost_ms, {FOREVER_MS})) AS left_ms",
    )  # fmt: skip
    waited = timed.where("left_ms >= from_ms - vague_ms").selectExpr(
        *AT, "since_ref", "recipients", "blind", "from_ms",
        "from_ms - vague_ms - slack_ms AS least_ms",
        f"{_BACK} AS due_ms",
        f"is_notified_first AND left_ms > {_BACK} AND end_ms > {_BACK} AS must",
    )  # fmt: skip
    return waited.groupBy(*AT).agg(
        F.count("*").alias("may"),
        F.expr("count_if(must) AS must"),
        F.min("least_ms").alias("least_ms"),
        F.expr("min(due_ms) FILTER (WHERE must) AS due_ms"),
        F.expr(f"bool_or({overlaps('blind', 'from_ms', 'due_ms')}) AS is_blind"),
        F.min("since_ref").alias("since_ref"),
        F.expr("array_distinct(flatten(collect_list(recipients))) AS whom"),
    )


def _without_what_came_back(rows: DataFrame, came_back: DataFrame | None) -> DataFrame:
    """`may_be_back`: a kill swallowed what would say whether it did."""
    if came_back is None:
        return rows.withColumn("may_be_back", F.lit(False))
    known = rows.join(came_back.select(*KEY, "is_sure"), list(KEY), "left")
    return known.where("NOT coalesce(is_sure, false)").withColumn(
        "may_be_back", F.expr("is_sure IS NOT NULL")
    )


# a server that is away then, or whose disk is full, notifies when that is over
_BACK = (
    "(aggregate(kills, calm_ms, (acc, k) -> IF(k.possible.lo <= acc, "
    "greatest(acc, k.possible.hi + slack_ms), acc)) + vague_ms)"
)

CLAIM = Claim("delay_dsn_sent", ("RT-5",), cases, lambda tables: tables.scope.may_delay)
