"""copies_agree: at the end a passive copy of a mailbox database has what the active one has (TP-4).

Asks every passive copy that stands at the log at which the active copy stands: both store the same
messages, show them in the same mailboxes since the same times, and say so by the same digest. Asks
every other passive copy, where LOGS_MS and what clocks and rows are late by are over since the last
log of the active one: it has replayed that log, or where it is lagged (ReplayLagTime) received it.
Accuses a server of each copy that it gives up as failed: no fault of a lab harms the file of a
mailbox database.

The active copy is the one that recipients see: of those that are not passive, that of the latest
epoch. Not asked whether a copy is behind: while the way from it or one of its ends was in trouble,
and for as long again and ConnectionInactivityTimeOut after it; once a copy failed, until it is
seeded; near a hole of the log; where the time of the last log is not known.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.safety_net.copies_follow import CATCHING_UP, PAIR, followed
from spark_eval.as_tables.claims.safety_net.resubmission_complete import may_ask
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, sentence, violated

DATABASE = ["run", "database"]
COPY = "struct(epoch, server, last_log, last_log_epoch, last_log_ms, messages, content_sha256, ref)"
AT_THE_SAME_LOG = "last_log = active.last_log AND last_log_epoch = active.last_log_epoch"
SINCE = "active.last_log_ms"
HAS = "IF(is_lagged, received, last_log)"
_JUDGED = cases_of(
    (f"{AT_THE_SAME_LOG} AND content_sha256 = active.content_sha256", holds()),
    (
        AT_THE_SAME_LOG,
        violated(
            "{peer} stands at log {last_log} of {database} as {server} does, with {messages} "
            "messages where that has {active.messages}, or with others"
        ),
    ),
    (f"{HAS} >= active.last_log AND epoch = active.epoch", holds()),
    (f"lives IS NULL OR coalesce({SINCE} + askew_ms + late_ms > end_ms, true)", not_asked()),
    (overlaps("blind", SINCE, "end_ms"), not_asked()),
    (overlaps(CATCHING_UP, SINCE, "end_ms"), not_asked()),
    (f"exists(failed, t -> t >= {SINCE})", not_asked()),
    otherwise=violated(
        "{server} made log {active.last_log} of {database} at {@active.last_log_ms}; at the end "
        "{peer} has received {received}, and replayed {last_log}"
    ),
)


def cases(tables: Tables) -> DataFrame:
    return _compared_copies(tables).unionByName(_given_up(tables))


def _given_up(tables: Tables) -> DataFrame:
    failed = tables.record.lifecycle.where("event = 'copy-failed'")
    return failed.selectExpr(
        *case(
            status="'violated'",
            subject="concat(`database`, ' on ', server)",
            detail=sentence("{server} gave its copy up at {@at_ms}: {reason}"),
            at_ms="at_ms",
            refs="ref",
            requirements="array('TP-4')",
        )
    )


def _compared_copies(tables: Tables) -> DataFrame:
    judged = _compared(tables).selectExpr("*", f"{_JUDGED} AS j")
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="concat(`database`, ' on ', peer)",
            detail="j.reason",
            at_ms="end_ms",
            refs="ref, active.ref",
            requirements="array('TP-4')",
            weight=f"active.last_log - {HAS}",
        )
    )


def _compared(tables: Tables) -> DataFrame:
    """One row a passive copy: where it stands, the `active` one, and the way between them."""
    copies = tables.record.copies
    seen = copies.where("state <> 'passive'").groupBy(*DATABASE)
    active = seen.agg(F.expr(f"max({COPY}) AS active")).withColumn("server", F.col("active.server"))
    passive = copies.where("state = 'passive'").withColumnRenamed("server", "peer")
    ways = followed(tables)
    askew = tables.histories.select("run", "server", "askew_ms")
    lagged = tables.record.database_copies.withColumnRenamed("server", "peer")
    return (
        passive.transform(joined, small(active), DATABASE)
        .transform(joined, small(lagged), [*DATABASE, "peer"])
        .transform(joined, small(ways), PAIR)
        .transform(joined, small(askew), ["run", "server"])
    )


CLAIM = Claim("copies_agree", ("TP-4",), cases, may_ask)
