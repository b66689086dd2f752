"""heartbeats_paced: a server opens sessions only to ask every ShadowHeartbeatFrequency, not more
often, and not less while the one before hangs (SM-2).

Asks every session that was opened for a heartbeat after another one to the same primary server,
whatever became of that one. Sessions for mail are none of these. The time between two is known by
the asking server's log alone. One comes too late where a whole heartbeat was left out since the one
before, and since the last question that was answered, while shadow messages were surely held.

Not asked: the first after a restart, which asks at once; what a pause, a full disk or a hole of the
log lies between; the attempt that comes before a promotion, when ShadowResubmitTimeSpan is over
since a contact, or since a shadow message came that none followed, also where that fell into a hole
of the log; the same where the span was over already, when an older message leaves whose stay is
over. Where rows may be as late as a heartbeat is long, nothing is.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.questions import GONE, SURE
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import merged, overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER, PAIR = ["run", "server"], ["run", "server", "peer"]
AWAY = "transform(kills, k -> k.possible)"
RESTARTED = "exists(lives, l -> l.lo_ms > before.at_ms AND l.lo_ms <= at_ms + vague_ms)"
# how far apart the log may have two times that are the same
NEAR_MS = "(askew_ms + vague_ms)"
SPAN_WAS_OVER = (
    f"coalesce(span_over_ms >= before.at_ms - {NEAR_MS} "
    f"AND at_ms <= greatest(span_over_ms, left_ms) + {NEAR_MS}, false)"
)
UNKNOWN_CONTACT = overlaps(
    "blind", f"before.at_ms - span_ms - {NEAR_MS}", f"at_ms - span_ms + {NEAR_MS}"
)
SINCE = "greatest(before.at_ms, asked_ms)"
HELD = "coalesce(exists(holding, h -> h.lo <= before.at_ms AND h.hi >= at_ms), false)"
_JUDGED = cases_of(
    ("lives IS NULL OR vague_ms >= heartbeat_ms", not_asked()),
    (f"{overlaps(AWAY, 'before.at_ms', 'at_ms')} OR {RESTARTED}", not_asked()),
    (overlaps("blind", "before.at_ms", "at_ms"), not_asked()),
    (f"{SPAN_WAS_OVER} OR {UNKNOWN_CONTACT}", not_asked()),
    (
        "at_ms - before.at_ms < heartbeat_ms - vague_ms",
        violated(
            "{server} opened a session to {peer} only to ask at {@at_ms}, after one at "
            "{@before.at_ms}; not due before {@before.at_ms + heartbeat_ms}"
        ),
    ),
    (
        f"at_ms - {SINCE} > 2 * heartbeat_ms + vague_ms AND {HELD}",
        violated(
            "{server} opened a session to {peer} to ask at {@at_ms}, and held shadow messages of "
            f"it; due by {{@{SINCE} + heartbeat_ms}}"
        ),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    paces = tables.histories.selectExpr(
        *SERVER, "heartbeat_ms", "span_ms", "askew_ms", "kills", "blind", "lives",
        f"{VAGUE_MS} AS vague_ms",
    )  # fmt: skip
    followed = _followed(tables, paces)
    return followed.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
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
    """One row a heartbeat that followed another one of its pair: `before`, that one;
    `span_over_ms`, when the span was last over by then, at the latest; `left_ms`, when a shadow
    message of that primary last left by then, its stay over; `asked_ms`, of the last question that
    was answered by then; `holding`, of `_holdings`.
    """
    opened = (
        tables.record.contacts.where("begun")
        .select(*PAIR, "at_ms", "ref")
        .withColumn("before", F.lag(F.struct("at_ms", "ref")).over(_in_order("at_ms", "ref")))
    )
    by_then = _in_order("at_ms").rangeBetween(Window.unboundedPreceding, 0)
    return (
        opened.unionByName(_spans(tables, paces), allowMissingColumns=True)
        .unionByName(_ends_of_stays(tables), allowMissingColumns=True)
        .unionByName(_answered(tables), allowMissingColumns=True)
        .withColumn("span_over_ms", F.max("span_over_ms").over(by_then))
        .withColumn("left_ms", F.max("left_ms").over(by_then))
        .withColumn("asked_ms", F.max("asked_ms").over(by_then))
        .where("before IS NOT NULL")
        .transform(joined, small(paces), SERVER)
        .join(_holdings(tables), PAIR, "left")
    )


def _holdings(tables: Tables) -> DataFrame:
    """`holding`: intervals in which a server surely held shadow messages of another one."""
    held = f"named_struct('lo', held_ms + exchange_ms, 'hi', {GONE} - exchange_ms) AS held"
    sure = tables.copies.where(SURE).selectExpr(*SERVER, "primary_server AS peer", held)
    each = sure.groupBy(*PAIR).agg(F.expr("collect_list(held) AS held"))
    return each.selectExpr(*PAIR, f"{merged('held')} AS holding")


def _spans(tables: Tables, paces: DataFrame) -> DataFrame:
    """One row a time from which the span may have run out, with no contact while it did: `at_ms`,
    when it was over at the earliest, `span_over_ms`, at the latest. That is a contact, or when a
    shadow message came, which its server logged when it had it.
    """
    contacts = tables.record.contacts.where("reached").selectExpr(
        *PAIR, "at_ms", "at_ms AS from_ms", "at_ms AS contact_ms"
    )
    came = tables.copies.where("held IS NOT NULL").selectExpr(
        *SERVER, "primary_server AS peer", "held.at_ms AS at_ms",
        "held.at_ms - exchange_ms AS from_ms",
    )  # fmt: skip
    later = _in_order("at_ms").rangeBetween(1, Window.unboundedFollowing)
    return (
        contacts.unionByName(came, allowMissingColumns=True)
        .withColumn("contact_ms", F.min("contact_ms").over(later))
        .transform(joined, small(paces), SERVER)
        .selectExpr(
            *PAIR,
            "contact_ms",
            f"from_ms + span_ms - {NEAR_MS} AS earliest_ms",
            "at_ms + span_ms AS span_over_ms",
        )
        .where("coalesce(contact_ms >= earliest_ms, true)")
        .selectExpr(*PAIR, "earliest_ms AS at_ms", "span_over_ms")
    )


def _answered(tables: Tables) -> DataFrame:
    return tables.record.contacts.where("reached").select(*PAIR, "at_ms", "asked_ms")


def _ends_of_stays(tables: Tables) -> DataFrame:
    """One row a shadow message that left its queue, its stay over: from then on the span of the
    next message counts.
    """
    expired = tables.record.lifecycle.where("event = 'shadow-expired'")
    left = expired.select(*SERVER, "network_message_id", "at_ms")
    held = tables.copies.selectExpr(*SERVER, "network_message_id", "primary_server AS peer")
    return left.transform(joined, held, [*SERVER, "network_message_id"]).selectExpr(
        *PAIR, "at_ms", "at_ms AS left_ms"
    )


def _in_order(*by: str) -> WindowSpec:
    return Window.partitionBy(*PAIR).orderBy(*by)


CLAIM = Claim("heartbeats_paced", ("SM-2",), cases)
