"""answered_in_time: whoever hands over a message hears what became of it before the session ends
(SR-6).

Asks every attempt of the workload that waited for a tenth of ConnectionTimeout or more, or that
ended without a reply, while neither its server nor the way there was in trouble: its answer is
there by ConnectionTimeout, and what a server and the record need to notice. An answer is any reply
but a 421, which ends the session and says nothing of the message. Where other servers are silent,
that is what SR-6 divides the sender's session for; while no fault acts anywhere, nor did within the
length of a session, nobody waits for any, and QUIET_MS must do.

The workload waits 5 minutes for a reply (RFC 5321 section 4.5.3.2), and no sound server lets a
command wait that long; for the one to the final dot it waits 15. Where ConnectionTimeout is longer
than that, a sender that gave up first is not asked.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected import calls
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.fault_windows import acting
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER = ["run", "server"]
# while all is well, what committing a message here and at one other server takes at most
QUIET_MS = 20_000
STOPPED = "reason LIKE '%the workload was stopped'"
GAVE_UP = "lower(reason) LIKE 'final dot: %timed out%' AND took_ms < session_ms"
SLOW = "took_ms * 10 >= session_ms"
FAULTS_ACT = f"coalesce({overlaps('acting', 'started_ms - session_ms', 'ended_ms')}, false)"
LATE_IN_QUIET = f"took_ms > limit_ms - session_ms + {QUIET_MS} AND NOT faults_act"
OVER = "ConnectionTimeout was over at {@started_ms + session_ms}"
_JUDGED = cases_of(
    (f"is_troubled OR coalesce({STOPPED}, false)", not_asked()),
    (f"reply IS NULL AND ({GAVE_UP})", not_asked()),
    ("reply IS NULL", violated("{server} gave no answer in {@took_ms} ({reason})")),
    ("reply LIKE '421%'", violated("{server} ended the session instead of an answer: {reply}")),
    ("took_ms > limit_ms", violated(f"{{server}} answered at {{@ended_ms}}; {OVER}")),
    (
        LATE_IN_QUIET,
        violated("{server} answered after {@took_ms}, and no fault acted anywhere"),
    ),
    (SLOW, holds()),
    otherwise=not_asked(),
)


def cases(tables: Tables) -> DataFrame:
    ended = tables.attempts.where("started_ms IS NOT NULL AND ended_ms IS NOT NULL")
    took = ended.selectExpr("*", "ended_ms - started_ms AS took_ms")
    known = joined(
        took, small(calls.limits(tables.record.servers, tables.record.runs)), SERVER
    ).join(acting(tables.windows), "run", "left")
    asked = known.selectExpr("*", f"{FAULTS_ACT} AS faults_act").where(
        f"reply IS NULL OR reply LIKE '421%' OR {SLOW} OR ({LATE_IN_QUIET})"
    )
    met = asked.join(calls.troubles(tables.troubles), SERVER, "left").selectExpr(
        "*", f"{calls.troubled('started_ms', 'ended_ms')} AS is_troubled"
    )
    return met.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ', attempt ', attempt)",
            detail="j.reason",
            at_ms="ended_ms",
            refs="ref",
            requirements="array('SR-6')",
            weight="took_ms - session_ms",
        )
    )


CLAIM = Claim("answered_in_time", ("SR-6",), cases)
