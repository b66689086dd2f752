"""heartbeats_paced: no server opens sessions only to ask more often than every
ShadowHeartbeatFrequency (SM-2).

Asks every session that was opened for a heartbeat after another one to the same primary server,
whatever became of that one. Sessions for mail are none of these, nor is a question in a session
that was open already: that opens nothing. The time between two is known by the asking server's log
alone.

Not asked: the first after a restart, which asks at once; what a pause, a full disk or a hole of the
log lies between; what follows an answer that may have left notifications for the next; the attempt
that comes before a promotion, from the moment at which no contact was longer ago than
ShadowResubmitTimeSpan, also where it waited for a session until after the next contact; what
follows one that waited. One may have waited that opened when another session to the same server
ended, where as many stood as MaxPerDomainOutboundConnections permits. Where rows may be as late as
a heartbeat is long, nothing is.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.claims.claim import Claim, case
from spark_eval.expected.tables import Tables
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated
from spark_eval.transforms.contacts import TOLD_ALL
from spark_eval.transforms.server_histories import VAGUE_MS

SERVER, PAIR = ["run", "server"], ["run", "server", "peer"]
AWAY = "transform(kills, k -> k.possible)"
RESTARTED = "exists(lives, l -> l.lo_ms > before.at_ms AND l.lo_ms <= at_ms + vague_ms)"
SPAN_MAY_BE_OVER = "at_ms - coalesce(contact_ms, 0L) >= span_ms - askew_ms - vague_ms"
SPAN_MAY_HAVE_BEEN_OVER = "coalesce(late_ms >= before.at_ms, false)"
WAITED, BEFORE_WAITED = (
    f"coalesce({beside} >= connections, false)" for beside in ("beside", "before.beside")
)
_JUDGED = cases_of(
    ("lives IS NULL OR vague_ms >= heartbeat_ms", not_asked()),
    (f"{overlaps(AWAY, 'before.at_ms', 'at_ms')} OR {RESTARTED}", not_asked()),
    (overlaps("blind", "before.at_ms", "at_ms"), not_asked()),
    (f"{BEFORE_WAITED} OR coalesce(full_ms >= before.at_ms, false)", not_asked()),
    (f"{SPAN_MAY_BE_OVER} OR ({WAITED} AND {SPAN_MAY_HAVE_BEEN_OVER})", not_asked()),
    (
        "at_ms - before.at_ms < heartbeat_ms - vague_ms",
        violated(
            "{server} opened a session to {peer} only to ask at {@at_ms}, after one at "
            "{@before.at_ms}; not due before {@before.at_ms + heartbeat_ms}"
        ),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    paces = tables.histories.selectExpr(
        *SERVER, "heartbeat_ms", "span_ms", "askew_ms", "connections", "kills", "blind", "lives",
        f"{VAGUE_MS} AS vague_ms",
    )  # fmt: skip
    known = _followed(tables, paces).transform(joined, small(paces), SERVER)
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(server, ' and ', peer)",
            detail="j.reason",
            at_ms="at_ms",
            refs="before.ref, ref",
            requirements="array('SM-2')",
            weight="before.at_ms + heartbeat_ms - at_ms",
        )
    )


def _followed(tables: Tables, paces: DataFrame) -> DataFrame:
    """One row a heartbeat that followed another one of its pair: `before`, that one; `contact_ms`,
    `full_ms` and `late_ms`, the last contact, the last whose answer may have left something unsaid,
    and the last that came when the span since the one before it may have been over.
    """
    pages = small(tables.record.servers.selectExpr("run", "server AS peer", "page"))
    reached = tables.record.contacts.where("reached").join(pages, ["run", "peer"], "left")
    in_order = Window.partitionBy(*PAIR).orderBy("at_ms", "ref")
    answers = (
        reached.withColumn("contact_ms", F.lag("at_ms").over(in_order))
        .transform(joined, small(paces), SERVER)
        .selectExpr(
            *PAIR,
            "at_ms",
            "at_ms AS contact_ms",
            f"IF({TOLD_ALL}, NULL, at_ms) AS full_ms",
            f"IF({SPAN_MAY_BE_OVER}, at_ms, NULL) AS late_ms",
        )
    )
    opened = tables.record.heartbeats.selectExpr(
        *PAIR,
        "at_ms",
        "ref",
        "beside",
        "struct(at_ms, ref, beside) AS before",
    )
    earlier = (
        Window.partitionBy(*PAIR).orderBy("at_ms", "ref").rowsBetween(Window.unboundedPreceding, -1)
    )
    return (
        opened.unionByName(answers, allowMissingColumns=True)
        .withColumns(
            {
                "before": F.last("before", ignorenulls=True).over(earlier),
                "contact_ms": F.max("contact_ms").over(earlier),
                "full_ms": F.max("full_ms").over(earlier),
                "late_ms": F.max("late_ms").over(earlier),
            }
        )
        .where("ref IS NOT NULL AND before IS NOT NULL")
    )


CLAIM = Claim("heartbeats_paced", ("SM-2",), cases)
