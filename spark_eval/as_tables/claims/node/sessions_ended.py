"""sessions_ended: no server leaves a session that it opened standing for ever, and the ends say
what was carried (TL-4).

Asks every session whose beginning is in its server's connectivity log for its end there. Whoever is
called answers by ConnectionInactivityTimeOut of the caller's Send connector, or is given up; ends
the session by ConnectionTimeout of its Receive connector; and what it was asked just before is
given up after ConnectionInactivityTimeOut again. Which server was called is not in the first row of
every session, so the longest ConnectionTimeout of the run counts.

Asks every server, in a record that the lab made, that logs messages as sent on (SEND) or made
redundant (HAREDIRECT): its sessions, but for those for logs and for Active Manager, carried at
least as many, by their ends.

Not asked, where no end is seen by then: a session that could stand until the run was over, or until
its server was away, had a full disk, or started anew; what is near a hole of the log. Nor what a
server's sessions carried, where any of them has no end, or its log a hole, or its disk was full.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.calls import SLACK
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER = ["run", "server"]
LIMIT = f"2 * timeout_ms + longest_ms + {SLACK} + {VAGUE_MS}"
AWAY = "transform(kills, k -> k.possible)"
STARTED_ANEW = "exists(lives, l -> l.lo_ms > at_ms AND l.lo_ms <= due_ms)"
SAID = "{server} opened {session} for {purpose} at {@at_ms}, to be over by {@due_ms}; "
_JUDGED = cases_of(
    ("ended.at_ms <= due_ms", holds()),
    ("lives IS NULL OR coalesce(due_ms > end_ms, true)", not_asked()),
    (f"{overlaps(AWAY, 'at_ms', 'due_ms')} OR {STARTED_ANEW}", not_asked()),
    (overlaps("blind", "at_ms", "due_ms"), not_asked()),
    ("ended IS NULL", violated(f"{SAID}its connectivity log has no end of it")),
    otherwise=violated(f"{SAID}it ended at {{@ended.at_ms}}"),
)

FOR_MESSAGES = "purpose NOT IN ('replication', 'management')"
FULL = "exists(kills, k -> k.kind = 'fill_disk')"
_CARRIED = cases_of(
    (f"NOT is_made OR lives IS NULL OR size(blind) > 0 OR {FULL} OR endless > 0", not_asked()),
    ("coalesce(carried, 0L) >= logged", holds()),
    otherwise=violated(
        "{server} logged {logged} messages as sent on or made redundant; by the ends of its "
        "sessions they carried {coalesce(carried, 0L)}"
    ),
)


def cases(tables: Tables) -> DataFrame:
    return _ends(tables).unionByName(_carried(tables))


def _carried(tables: Tables) -> DataFrame:
    record = tables.record
    logged = record.tracking.where("event IN ('SEND', 'HAREDIRECT')").groupBy(*SERVER)
    rows = logged.agg(F.count("*").alias("logged"), F.expr("min_by(ref, at_ms) AS ref"))
    sessions = record.openings.where(FOR_MESSAGES).groupBy(*SERVER)
    told = sessions.agg(
        F.sum("ended.messages").alias("carried"),
        F.expr("count_if(ended.messages IS NULL) AS endless"),
    )
    histories = tables.histories.select(*SERVER, "is_made", "kills", "blind", "lives", "end_ms")
    known = (
        rows.transform(joined, small(histories), SERVER)
        .join(small(told), SERVER, "left")
        .fillna({"endless": 0})
    )
    return known.selectExpr("*", f"{_CARRIED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="server",
            detail="j.reason",
            at_ms="end_ms",
            refs="ref",
            requirements="array('TL-4')",
            weight="logged - coalesce(carried, 0L)",
        )
    )


def _ends(tables: Tables) -> DataFrame:
    record = tables.record
    longest = record.servers.groupBy("run").agg(F.max("session_ms").alias("longest_ms"))
    limits = joined(tables.histories, longest, "run").selectExpr(
        *SERVER, "end_ms", "kills", "blind", "lives", f"{LIMIT} AS limit_ms"
    )
    known = record.openings.transform(joined, small(limits), SERVER)
    timed = known.selectExpr("*", "at_ms + limit_ms AS due_ms")
    return timed.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(session, ' of ', server)",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref, ended.ref",
            requirements="array('TL-4')",
            weight="coalesce(ended.at_ms, end_ms) - due_ms",
        )
    )


CLAIM = Claim("sessions_ended", ("TL-4",), cases)
