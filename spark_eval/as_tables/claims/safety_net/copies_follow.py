"""copies_follow: the logs of what an active copy took are soon on their way to each passive copy
(TP-4).

Asks every delivery into a database of several copies once for each other copy: by LOGS_MS and what
timers and rows are late by, the server of the active copy had replication sessions to the other
server that carried, all together, as many messages as there were deliveries. Both are counted
from the last time at which counting can begin: a mount, a seed, a start, and when the copy of that
server became passive, since what it took beside another one is thrown away. A session that stands
by then counts with all that it carries until its end. The logs of one server are compared, and
what the other one took in is not asked: a message of a session may be a log that was refused.

Not asked, besides: what one of those comes close after; while the way or one of its ends was in
trouble, and for as long again and ConnectionInactivityTimeOut after it, since what waited goes
first; a copy that failed; what a hole of the log lies between; what follows a session whose end is
not in the log.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.safety_net.resubmission_complete import may_ask
from spark_eval.as_tables.expected.calls import SLACK
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.as_tables.transforms.troubles import NO_TROUBLES
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER, PAIR, DATABASE = ["run", "server"], ["run", "server", "peer"], ["run", "database"]
# what an exchange takes, and a refusal or two before it
LOGS_MS = 30_000
LATE_MS = f"{LOGS_MS} + {SLACK} + {VAGUE_MS}"
# a copy that was not reached for a while has as long again to catch up
CATCHING_UP = (
    "transform(troubles, x -> named_struct('lo', x.lo, 'hi', "
    "2 * x.hi - x.lo + IF(x.hangs, timeout_ms, 0L)))"
)
FAILED = "exists(failed, t -> t >= since_ms AND t <= due_ms)"
BEGUN_ANEW = "exists(begins, b -> b.at_ms > at_ms AND b.at_ms <= due_ms)"
NO_END = "coalesce(no_end_ms >= coalesce(started_ms, 0L), false)"
_JUDGED = cases_of(
    (f"lives IS NULL OR due_ms > end_ms OR {BEGUN_ANEW} OR {FAILED}", not_asked()),
    (f"{overlaps('blind', 'since_ms', 'due_ms')} OR {NO_END}", not_asked()),
    (overlaps(CATCHING_UP, "at_ms", "due_ms"), not_asked()),
    (
        "carried < taken",
        violated(
            "{server} took it into {database} at {@at_ms}, delivery {taken} since {@since_ms}; "
            "replication sessions to {peer} that stood by {@due_ms} carried {carried}"
        ),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    known = followed(tables)
    counted = _counted(tables, known).transform(joined, small(known), PAIR)
    timed = counted.selectExpr("*", "at_ms + late_ms AS due_ms")
    return timed.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ' for ', peer)",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref, session_ref",
            requirements="array('TP-4')",
            weight="taken - carried",
        )
    )


def followed(tables: Tables) -> DataFrame:
    """One row a pair of servers with copies of one database: `begins`, at which counting begins
    (`at_ms`, and whether it `is_start` of the process), `failed`, the `troubles` of the way for
    logs and of its ends, and the history of the one that may ship logs.
    """
    ways = tables.troubles.where("service = 'replication'").select(*PAIR, "troubles")
    pairs = _begun(tables).join(ways, PAIR, "left")
    return pairs.withColumn("troubles", F.expr(f"coalesce(troubles, {NO_TROUBLES})"))


def _pairs(tables: Tables) -> DataFrame:
    """`run`, `database`, `server`, `peer`: each two servers with copies of one database."""
    copies = tables.record.database_copies.select(*DATABASE, "server")
    others = copies.withColumnRenamed("server", "peer")
    return joined(copies, others, DATABASE).where("server <> peer")


def _begun(tables: Tables) -> DataFrame:
    """As `followed`, but for the troubles."""
    told = tables.record.lifecycle.where(
        "event IN ('database-mounted', 'copy-passive', 'copy-seeded', 'copy-seeded-here', "
        "'copy-failed')"
    ).selectExpr(*DATABASE, "server AS teller", "event", "at_ms")
    of_pair = (
        "event = 'database-mounted' "
        "OR (event IN ('copy-seeded', 'copy-passive') AND teller = server) "
        "OR (event = 'copy-seeded-here' AND teller = peer) "
        "OR (event = 'copy-failed' AND teller IN (server, peer))"
    )
    begin = "IF(event <> 'copy-failed', named_struct('at_ms', at_ms, 'is_start', false), NULL)"
    words = (
        _pairs(tables)
        .join(small(told), DATABASE, "left")
        .groupBy(*PAIR)
        .agg(
            F.expr(f"collect_list({begin}) FILTER (WHERE {of_pair}) AS moved"),
            F.expr(
                f"collect_list(at_ms) FILTER (WHERE event = 'copy-failed' AND ({of_pair})) "
                "AS failed"
            ),
        )
    )
    # a session may stand before anybody saw that its server is back
    back = "transform(kills, k -> named_struct('at_ms', k.possible.hi, 'is_start', false))"
    begun = "transform(lives, l -> named_struct('at_ms', l.lo_ms, 'is_start', true))"
    paces = tables.histories.selectExpr(
        *SERVER, "end_ms", "timeout_ms", "kills", "blind", "lives", f"{LATE_MS} AS late_ms",
        f"concat({back}, coalesce({begun}, array())) AS starts",
    )  # fmt: skip
    known = words.transform(joined, small(paces), SERVER)
    return known.selectExpr("*", "concat(moved, starts) AS begins").drop("moved", "starts")


# at one moment, in this order: counting begins, a session stands, a delivery, a session ends
BEGINS, STANDS, TAKEN, ENDED = range(4)


def _counted(tables: Tables, pairs: DataFrame) -> DataFrame:
    """One row a delivery and other copy: `taken` and `carried` since `since_ms`; `started_ms`, the
    last start; `no_end_ms`, the last session whose end is unknown.

    A session is placed so much before it stood as a log may be late.
    """
    until_then = (
        Window.partitionBy(*PAIR)
        .orderBy("place_ms", "what", "ref")
        .rowsBetween(Window.unboundedPreceding, 0)
    )
    rows = _began(pairs).unionByName(_sessions(tables, pairs), allowMissingColumns=True)
    sums = (
        rows.unionByName(_taken(tables), allowMissingColumns=True)
        .withColumns(
            {
                "n": F.count(F.when(F.col("what") == TAKEN, 1)).over(until_then),
                "stood": F.coalesce(F.sum("messages").over(until_then), F.lit(0)),
                "ended": F.coalesce(F.sum("ended_messages").over(until_then), F.lit(0)),
                "no_end_ms": F.max("endless_ms").over(until_then),
                "started_ms": F.max("start_ms").over(until_then),
                "session_ref": F.last(
                    F.when(F.col("what") == STANDS, F.col("ref")), ignorenulls=True
                ).over(until_then),
            }
        )
        .withColumn("begun", F.expr(f"IF(what = {BEGINS}, struct(place_ms, n, ended), NULL)"))
        .withColumn("begun", F.last("begun", ignorenulls=True).over(until_then))
    )
    return sums.where(f"what = {TAKEN}").selectExpr(
        *PAIR, "database", "message_id", "place_ms AS at_ms", "ref", "session_ref", "no_end_ms",
        "started_ms", "coalesce(begun.place_ms, 0L) AS since_ms",
        "n - coalesce(begun.n, 0L) AS taken", "stood - coalesce(begun.ended, 0L) AS carried",
    )  # fmt: skip


def _began(pairs: DataFrame) -> DataFrame:
    return pairs.selectExpr(*PAIR, "inline(begins)").selectExpr(
        *PAIR, f"{BEGINS} AS what", "at_ms AS place_ms", "IF(is_start, at_ms, NULL) AS start_ms"
    )


def _taken(tables: Tables) -> DataFrame:
    """One row a delivery into an active copy and server of another copy of its database."""
    known = tables.resubmission
    assert known is not None
    rows = known.into.where("event = 'DELIVER'").selectExpr(
        *DATABASE, "copy AS server", "message_id", "at_ms AS place_ms", "ref", f"{TAKEN} AS what"
    )
    return joined(rows, small(_pairs(tables)), [*DATABASE, "server"])


def _sessions(tables: Tables, pairs: DataFrame) -> DataFrame:
    """Two rows a replication session: from when it stood, and as it ended."""
    for_logs = tables.record.openings.where("purpose = 'replication'")
    opened = for_logs.where("stood_ms IS NOT NULL OR ended IS NULL")
    late = small(pairs.select(*PAIR, "late_ms"))
    known = opened.transform(joined, late, PAIR)
    begun = (
        f"struct({STANDS} AS what, coalesce(stood_ms, at_ms) - late_ms AS place_ms, ref, "
        "ended.messages AS messages, "
        "CAST(NULL AS BIGINT) AS ended_messages, "
        "IF(ended.messages IS NULL, at_ms, NULL) AS endless_ms)"
    )
    over = (
        f"struct({ENDED} AS what, ended.at_ms AS place_ms, ended.ref AS ref, "
        "CAST(NULL AS BIGINT) AS messages, ended.messages AS ended_messages, "
        "CAST(NULL AS BIGINT) AS endless_ms)"
    )
    both = f"inline(IF(ended IS NULL, array({begun}), array({begun}, {over})))"
    return known.selectExpr(*PAIR, both)


CLAIM = Claim("copies_follow", ("TP-4",), cases, may_ask)
