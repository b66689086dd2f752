"""retries_paced: no server tries a queue again earlier than its ladder allows (RT-5).

Asks every attempt at a message that its server had put off: it began no earlier than the wait after
the failure before. DEFER and SEND rows say when an attempt ended; where the session was opened for
it and never stood, the connectivity log says when it began. The first failure of several under way
sets the wait, and that is one after the message was last tried, or came. How far up the ladder its
queue is, is known where no attempt reached anybody, as often as this message was put off since
anything went through; else the lowest rung counts, since a message may have been put aside by
itself.

Not asked: the first attempt at a message, since new mail may try its queue; the first after a
restart; mail for a database that has several copies, which may be active elsewhere by then; what
is near a hole of the log.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.primaries import KEY
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER, QUEUE = ["run", "server"], ["run", "server", "fork"]
BEGINS = "event IN ('RECEIVE', 'RESUBMIT', 'LOAD')"
TRIED = "event IN ('DEFER', 'SEND') AND fork IS NOT NULL"
STORED = "event IN ('DELIVER', 'DUPLICATEDELIVER') AND startswith(context, 'MDB:')"
REFUSED = "event = 'FAIL' AND source = 'QUEUE'"
INTO = f"IF({STORED}, concat('database:', substring(context, 5)), fork) AS fork"
# rows of one input stand so close together, whatever log they are in
TOGETHER_MS = 1_000
LADDER = cases_of(
    ("rung > glitches + transients", "outage_ms"),
    ("rung > glitches", "least(transient_ms, outage_ms)"),
    otherwise="least(glitch_ms, transient_ms, outage_ms)",
)
_JUDGED = cases_of(
    (overlaps("blind", "since_ms", "next.at_ms"), not_asked()),
    (
        "began_ms < due_ms - vague_ms",
        violated(
            "{server} tries {fork} again at {@began_ms}; after the failure at {@failed_ms} "
            "not before {@due_ms}"
        ),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    paces = tables.histories.selectExpr(
        *SERVER, "glitches", "glitch_ms", "transients", "transient_ms", "outage_ms", "blind",
        f"{VAGUE_MS} AS vague_ms",
    )  # fmt: skip
    known = _followed(tables).transform(joined, small(paces), SERVER)
    timed = known.selectExpr("*", f"failed_ms + {LADDER} AS due_ms")
    return timed.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ' at ', server)",
            detail="j.reason",
            at_ms="began_ms",
            refs="ref, next.ref",
            requirements="array('RT-5')",
            weight="due_ms - began_ms",
        )
    )


def _followed(tables: Tables) -> DataFrame:
    """One row a DEFER that another attempt at the message followed: `since_ms`, when it was tried
    before, or came; `failed_ms`, the first failure of its queue after that; `rung`; `began_ms`, by
    when the next attempt had begun, and its row `next`.
    """
    tried = _attempts(tables)
    failed = tried.where("event = 'DEFER'").groupBy(*QUEUE)
    failures = failed.agg(F.expr("array_sort(collect_list(at_ms)) AS failures"))
    first = "array_min(filter(failures, t -> t > since_ms AND t <= at_ms))"
    began = "IF(next.opened_ms >= at_ms, next.opened_ms, next.at_ms)"
    return (
        tried.where("event = 'DEFER' AND next.life = life AND since_ms IS NOT NULL")
        .transform(joined, failures, QUEUE)
        .selectExpr("*", f"coalesce({first}, at_ms) AS failed_ms", f"{began} AS began_ms")
    )


def _attempts(tables: Tables) -> DataFrame:
    """One row an attempt of a queue, as it ended: `life`, how often its message had come to the
    server by then (it came, or was loaded after a restart).
    """
    rows = _rows(tables).transform(_with_starts, tables)
    came = _rows(tables).where(BEGINS).groupBy(*KEY)
    lives = came.agg(F.expr("array_sort(collect_list(at_ms)) AS lives"))
    by_message = Window.partitionBy(*KEY, "fork").orderBy("at_ms", "mono_ns", "ref")
    streak = Window.partitionBy(*KEY, "fork", "life", "served").orderBy("at_ms", "mono_ns", "ref")
    before = "IF(life > 0, greatest(get(lives, life - 1), before_ms), NULL)"
    in_lives = joined(rows.transform(_with_served), lives, list(KEY)).selectExpr(
        "*", "size(filter(lives, t -> t <= at_ms)) AS life"
    )
    return (
        in_lives.withColumn("before_ms", F.lag("at_ms").over(by_message))
        .withColumn("next", F.lead(F.struct("at_ms", "life", "opened_ms", "ref")).over(by_message))
        .withColumn("n", F.count("*").over(streak))
        .withColumn("reached", F.count_if(F.col("opened_ms").isNull()).over(streak))
        .selectExpr("*", f"{before} AS since_ms", "IF(reached = 0, n, 0) AS rung")
    )


def _rows(tables: Tables) -> DataFrame:
    """Tracking rows that say something of queues; none of a database with several copies."""
    several = tables.record.databases.where("copies > 1").selectExpr(
        "run", "concat('database:', database) AS fork"
    )
    said = tables.record.tracking.where(f"({BEGINS}) OR ({TRIED}) OR ({STORED}) OR ({REFUSED})")
    return said.selectExpr(
        *SERVER, "coalesce(database_id, '') AS database_id", "internal_id", "message_id", INTO,
        "event", "context", "at_ms", "mono_ns", "ref",
    ).join(small(several), ["run", "fork"], "left_anti")  # fmt: skip


def _with_served(rows: DataFrame) -> DataFrame:
    """Attempts, with `served`: how often something had gone through the queue by then, or had been
    refused for good by whomever.
    """
    order = ("at_ms", "mono_ns", "ref")
    refused = F.count_if(F.expr("event = 'FAIL'"))
    through = F.count_if(F.expr("event NOT IN ('DEFER', 'FAIL')"))
    return (
        rows.where(f"NOT ({BEGINS})")
        .withColumn("refused", refused.over(Window.partitionBy(*SERVER).orderBy(*order)))
        .withColumn("through", through.over(Window.partitionBy(*QUEUE).orderBy(*order)))
        .where("event IN ('DEFER', 'SEND')")
        .selectExpr("*", "struct(refused, through) AS served")
    )


def _with_starts(rows: DataFrame, tables: Tables) -> DataFrame:
    """`opened_ms`, of a failed attempt that reached nobody: when the session that was opened for it
    was, and no earlier than the attempt began; null of any other.
    """
    ended = tables.record.given_up.selectExpr(
        *SERVER, "at_ms", "reason AS context", "opened_ms", "had_stood"
    )
    near = (
        Window.partitionBy(*SERVER, "context")
        .orderBy("at_ms")
        .rangeBetween(-TOGETHER_MS, TOGETHER_MS)
    )
    both = rows.unionByName(ended, allowMissingColumns=True)
    return (
        both.withColumn("stood", F.max("had_stood").over(near))
        .withColumn("opened_ms", F.max("opened_ms").over(near))
        .where("event IS NOT NULL")
        .selectExpr(
            *rows.columns, "IF(event = 'DEFER' AND NOT stood, opened_ms, NULL) AS opened_ms"
        )
    )


CLAIM = Claim("retries_paced", ("RT-5",), cases)
