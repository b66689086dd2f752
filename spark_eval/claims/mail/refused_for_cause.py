"""refused_for_cause: no server turns a message away for nothing (SR-5).

Asks every attempt of the workload that was answered with a 4xx or a 5xx. Each recipient of a run
has a mailbox or a route, so a server that takes mail takes it: it may refuse a message that has
more octets than MaxReceiveSize, or any while a fault has its disk, its process or the way to it,
and reject one that it could not make redundant; then its tracking log says what it tried, which
`shadow_placement` judges. A 421, which ends the session, is no answer (`answered_in_time`).
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.claims.claim import Claim, case
from spark_eval.claims.shadow.redundant_before_ack import REJECTION, REJECTS
from spark_eval.expected import calls
from spark_eval.expected.tables import Tables
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, unknown, violated
from spark_eval.transforms.attempts import ATTEMPT, written_meanwhile

SERVER = ["run", "server"]
MAIL = ["run", "message_id"]
TOO_LARGE = "startswith(reply, '552') AND sent_bytes > max_bytes"
REJECTED = f"startswith(reply, '{REJECTION}')"
_HOLE = f"coalesce({overlaps('blind', 'started_ms', 'ended_ms')}, false)"
_JUDGED = cases_of(
    (f"is_troubled OR rejection IS NOT NULL OR {TOO_LARGE}", holds()),
    (f"{REJECTED} AND {_HOLE}", unknown("the tracking log of {server} has a hole there")),
    (REJECTED, violated("{server} rejected it, and logged no attempt to make it redundant")),
    otherwise=violated("{server} refused it, and no fault was in the way: {reply}"),
)


def cases(tables: Tables) -> DataFrame:
    refused = tables.attempts.where("reply RLIKE '^[45]' AND NOT startswith(reply, '421')")
    met = (
        refused.join(calls.troubles(tables.troubles), SERVER, "left")
        .join(_rejections(tables.record.tracking, refused), ATTEMPT, "left")
        .join(tables.histories.select(*SERVER, "blind", "max_bytes"), SERVER, "left")
        .join(tables.sent.selectExpr(*MAIL, "content.bytes AS sent_bytes"), MAIL, "left")
        .selectExpr("*", f"{calls.troubled('started_ms', 'ended_ms')} AS is_troubled")
    )
    return met.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ', attempt ', attempt)",
            detail="j.reason",
            at_ms="ended_ms",
            refs="ref, rejection",
            requirements="array('SR-5')",
        )
    )


def _rejections(tracking: DataFrame, refused: DataFrame) -> DataFrame:
    """By attempt, `rejection`: the row that says that no shadow message could be made in it."""
    rows = tracking.where(REJECTS).select(*SERVER, "message_id", "mono_ns", "ref")
    return written_meanwhile(refused.where(REJECTED), rows, "rejection")


CLAIM = Claim("refused_for_cause", ("SR-5",), cases)
