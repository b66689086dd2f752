"""dsn_sent: whoever's mail is given up hears of it by a DSN, and nobody hears of what was not
(SM-12).

The claim checks every message that a server gave up or notified its sender of, except what came
back from a Safety Net (`dsn_suppressed` checks that). It also checks every one that was late by
more than a heartbeat and got there: its sender must not hear that it failed, which proves no
requirement; that it is delayed is `delay_dsn_sent`'s. A message may fail hop by hop: what is said
of each recipient last needs a DSN that is its own, and DSNs name those recipients and no others
(RFC 3464). Servers may give a message up again after a crash, so there may be fewer DSNs than
failures, not more. What is given up within a heartbeat before the end may come after it. That the
shadow is kept until the DSN is delivered is checked by `discard_after_delivery`. Not asked is who
sees no DSN, where it was given up itself and a fault was in its way, or lost with a copy
(`expected.dsns_given_up`).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.dsns import FAILED
from spark_eval.spark.joins import joined
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, unknown, violated

MAIL = ["run", "message_id"]
COPY = ["run", "server", "database_id", "internal_id"]
_JUDGED = cases_of(
    ("tellable IS NULL", not_asked()),
    ("NOT tellable AND dsns.n > 0", violated(
        "{sender} cannot be told, and {dsns.n} DSNs are made")),
    ("NOT tellable", not_asked()),
    ("dsns.n > coalesce(failed.n, 0L)", violated(
        "{sender} is told of {dsns.n} failures, and {coalesce(failed.n, 0L)} are logged")),
    ("failed IS NULL", holds()),
    ("failed.last_ms > end_ms - heartbeat_ms", not_asked()),
    ("NOT sender_collected", unknown("the record of what {sender} sees was not collected")),
    ("dsns IS NULL", violated("given up, and no DSN is made for {sender}")),
    ("dsns.n < owed", violated(
        "given up for several recipients, {owed} times; {sender} is told of {dsns.n}")),
    ("dsn_ref IS NULL AND dsn_given_up_ref IS NOT NULL", not_asked()),
    ("dsn_ref IS NULL", violated("given up, and {sender} never saw the DSN")),
    ("size(array_except(named, whom)) > 0", violated(
        "{sender} is notified that it failed for "
        "{array_join(array_except(named, whom), ' and ')}, and no such failure is logged")),
    ("dsns_seen >= dsns.n AND size(array_except(whom, named)) > 0", violated(
        "given up for {array_join(array_except(whom, named), ' and ')}, and no DSN to "
        "{sender} says so")),
    otherwise=holds(),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    failures = _failures(tables)
    known = (
        _counted(failures, "failed")
        .join(_owed(failures), MAIL, "left")
        .transform(joined, _counted(tables.dsns.where(FAILED), "dsns"), MAIL, "full")
        .transform(joined, _late(tables), MAIL, "full")
        .join(tables.senders, MAIL, "left")
        .transform(joined, tables.record.runs.select("run", "end_ms", "heartbeat_ms"), "run")
    )
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="coalesce(failed.last_ms, dsns.last_ms, late.last_ms)",
            refs="failed.ref, dsns.ref, coalesce(dsn_ref, late.ref)",
            requirements="IF(failed IS NULL AND j.status = 'holds', array(), array('SM-12'))",
        )
    )


def _failures(tables: Tables) -> DataFrame:
    """FAIL rows of queues, but those of messages that came back from a Safety Net, or that may have
    and say SUPPRESSED.
    """
    rows = tables.record.tracking.withColumn("database_id", F.coalesce("database_id", F.lit("")))
    failures = rows.where("event = 'FAIL' AND source = 'QUEUE'")
    if tables.came_back is None:
        return failures
    suppressed = rows.where("event = 'SUPPRESSED'").selectExpr(*COPY, "true AS is_suppressed")
    excepted = tables.came_back.join(suppressed.distinct(), COPY, "left")
    return failures.join(excepted.where("is_sure OR is_suppressed"), COPY, "left_anti")


def _owed(failures: DataFrame) -> DataFrame:
    """`owed`: of how many failures the sender must hear. Only the last one of a recipient is sure
    to be durable; what a crash took back is said again. `whom`: which recipients that are.
    """
    each = failures.selectExpr(*MAIL, "explode(recipients) AS recipient", "at_ms", "ref")
    last = each.groupBy(*MAIL, "recipient").agg(F.max(F.struct("at_ms", "ref")).alias("last"))
    return last.groupBy(*MAIL).agg(
        F.size(F.collect_set("last")).alias("owed"), F.collect_set("recipient").alias("whom")
    )


def _late(tables: Tables) -> DataFrame:
    """Messages that reached somebody more than a heartbeat after they were acknowledged."""
    arrived = tables.deliveries.where("promised AND first_ms IS NOT NULL")
    heartbeats = tables.record.runs.select("run", "heartbeat_ms")
    late = joined(arrived, heartbeats, "run").where("first_ms > acknowledged_ms + heartbeat_ms")
    seen = late.selectExpr(*MAIL, "first_ms AS at_ms", "get(refs, 0) AS ref")
    return _counted(seen, "late")


def _counted(rows: DataFrame, name: str) -> DataFrame:
    counted = rows.groupBy(*MAIL).agg(
        F.count("*").alias("n"), F.max("at_ms").alias("last_ms"), F.min("ref").alias("ref")
    )
    return counted.selectExpr(*MAIL, f"struct(n, last_ms, ref) AS {name}")


CLAIM = Claim("dsn_sent", ("SM-12",), cases)
