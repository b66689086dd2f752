"""deferred_for_cause: no delivery is put off for nothing (RT-5).

Asks every DEFER row of a queue to a mailbox database or to a server outside, as the lab's servers
write them: a fault was in the way of its server to where the queue leads (`expected.ways`), or had
been, up to ConnectionInactivityTimeOut before. Into another boundary any of its servers may take
the mail, so whatever is in the way to one of them counts, and what is between them, since they make
it redundant anew. For that they refuse it only where RejectMessageOnShadowFailure says so.

Not asked on containers: sessions that ended for ConnectionInactivityTimeOut, since a machine that
stands still for so long is nobody's fault.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.shadow.redundant_before_ack import REJECTION
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.hops import boundaries
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.as_tables.transforms.troubles import NO_TROUBLES, prolonged
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER, WAY = ["run", "server"], ["run", "server", "place"]
STOOD_STILL = "NOT host <=> 'simulator' AND context = 'ConnectionInactivityTimeOut'"
_IN_THE_WAY = prolonged(f"concat(own, coalesce(theirs, {NO_TROUBLES}))", "timeout_ms")
REFUSED = f"context = '{REJECTION}' AND NOT reject"
_JUDGED = cases_of(
    (STOOD_STILL, not_asked()),
    (
        REFUSED,
        violated("{server} put it off at {@at_ms} ({context}); nobody may refuse it for that"),
    ),
    (overlaps("in_the_way", "at_ms - vague_ms", "at_ms + vague_ms"), holds()),
    otherwise=violated(
        "{server} put it off at {@at_ms} ({context}); no fault was in the way to {place}"
    ),
)


def cases(tables: Tables) -> DataFrame:
    known = _put_off(tables).selectExpr("*", f"{_IN_THE_WAY} AS in_the_way")
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ' at ', server)",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref",
            requirements="array('RT-5')",
        )
    )


def _put_off(tables: Tables) -> DataFrame:
    """One row a DEFER row: `place` where its queue leads, the troubles of the way there: its `own`,
    and `theirs`, of another boundary in which the place is.
    """
    record = tables.record
    rows = record.tracking.where("event = 'DEFER' AND fork IS NOT NULL").selectExpr(
        *SERVER, "message_id", "at_ms", "context", "ref",
        "regexp_replace(fork, '^(database|external):', '') AS place",
    )  # fmt: skip
    runs = record.runs.select("run", "host", "reject")
    paces = tables.histories.selectExpr(*SERVER, "timeout_ms", f"{VAGUE_MS} AS vague_ms")
    own = tables.ways.withColumnRenamed("troubles", "own")
    theirs = tables.ways.withColumnsRenamed({"place": "boundary", "troubles": "theirs"})
    mine = boundaries(record.servers).withColumnRenamed("boundary", "mine")
    return (
        rows.transform(joined, small(runs), "run")
        .transform(joined, small(paces), SERVER)
        .join(small(own), WAY, "left")
        .join(small(mine), SERVER, "left")
        .join(small(_boundaries(tables)), ["run", "place"], "left")
        .withColumn("boundary", F.expr("nullif(boundary, mine)"))
        .join(small(theirs), [*SERVER, "boundary"], "left")
        .withColumn("own", F.expr(f"coalesce(own, {NO_TROUBLES})"))
    )


def _boundaries(tables: Tables) -> DataFrame:
    """`boundary` of each mailbox database."""
    record = tables.record
    named = record.database_copies.selectExpr("run", "`database` AS place", "server")
    inside = named.transform(joined, boundaries(record.servers), SERVER)
    return inside.groupBy("run", "place").agg(F.min("boundary").alias("boundary"))


CLAIM = Claim("deferred_for_cause", ("RT-5",), cases)
