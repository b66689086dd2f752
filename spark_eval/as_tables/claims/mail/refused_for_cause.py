"""refused_for_cause: no server turns a message away for nothing (SR-5).

Asks every attempt of the workload that was answered with a 4xx or a 5xx. Each recipient of a run
has a mailbox or a route, so a server that takes mail takes it: it may refuse a message that has
more octets than MaxReceiveSize or more Received fields than MaxHopCount, or any while a fault has
its disk, its process or the way to it, and reject one that it could not make redundant; then its
tracking log says what it tried, which `shadow_placement` judges. Whether what it calls a loop is
one stays unknown where the ledger has no `hops`. With `452 4.3.1` it may refuse one while more mail
of clients is under way to it than a server has in memory, by the sizes of what the workload was
sending it; strangers send too little to count. A 421, which ends the session, is no answer
(`answered_in_time`).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.shadow.redundant_before_ack import REJECTION, REJECTS
from spark_eval.as_tables.expected import calls
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.attempts import ATTEMPT, written_meanwhile
from spark_eval.spark.joins import joined
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, unknown, violated

SERVER = ["run", "server"]
MAIL = ["run", "message_id"]
IN_MEMORY_BYTES = 134_217_728  # of clients outside, `nodes.shell.smtp.mail_in_memory`
KEPT_MS = 600_000  # ConnectionTimeout: so long may a message stay that nobody waits for any more
NO_MEMORY = "startswith(reply, '452 4.3.1')"
TOO_LARGE = "startswith(reply, '552') AND sent_bytes > max_bytes"
LOOP = "startswith(reply, '554 5.4.6')"
REJECTED = f"startswith(reply, '{REJECTION}')"
_HOLE = f"coalesce({overlaps('blind', 'started_ms', 'ended_ms')}, false)"
_JUDGED = cases_of(
    (f"is_troubled OR rejection IS NOT NULL OR {TOO_LARGE}", holds()),
    (f"{NO_MEMORY} AND under_way_bytes > {IN_MEMORY_BYTES}", holds()),
    (f"{LOOP} AND hops > max_hops", holds()),
    (f"{LOOP} AND hops IS NULL", unknown("the ledger does not say how many hops it had made")),
    (f"{REJECTED} AND {_HOLE}", unknown("the tracking log of {server} has a hole there")),
    (REJECTED, violated("{server} rejected it, and logged no attempt to make it redundant")),
    otherwise=violated("{server} refused it, and no fault was in the way: {reply}"),
)


def cases(tables: Tables) -> DataFrame:
    refused = tables.attempts.where("reply RLIKE '^[45]' AND NOT startswith(reply, '421')")
    met = (
        refused.join(calls.troubles(tables.troubles), SERVER, "left")
        .join(_rejections(tables.record.tracking, refused), ATTEMPT, "left")
        .join(tables.histories.select(*SERVER, "blind", "max_bytes", "max_hops"), SERVER, "left")
        .join(_sent(tables), MAIL, "left")
        .join(_under_way(tables, refused), ATTEMPT, "left")
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


def _sent(tables: Tables) -> DataFrame:
    return tables.sent.selectExpr(*MAIL, "content.bytes AS sent_bytes", "hops")


def _under_way(tables: Tables, refused: DataFrame) -> DataFrame:
    """By attempt, `under_way_bytes`: of all that the workload was sending its server meanwhile."""
    spans = refused.where(NO_MEMORY).selectExpr(*ATTEMPT, "started_ms AS lo", "ended_ms AS hi")
    others = joined(tables.attempts, _sent(tables), MAIL).selectExpr(
        *SERVER, "started_ms", f"ended_ms + {KEPT_MS} AS gone_ms", "sent_bytes"
    )
    meanwhile = joined(spans, others, SERVER).where("started_ms <= hi AND NOT gone_ms < lo")
    return meanwhile.groupBy(*ATTEMPT).agg(F.sum("sent_bytes").alias("under_way_bytes"))


def _rejections(tracking: DataFrame, refused: DataFrame) -> DataFrame:
    """By attempt, `rejection`: the row that says that no shadow message could be made in it."""
    rows = tracking.where(REJECTS).select(*SERVER, "message_id", "mono_ns", "ref")
    return written_meanwhile(refused.where(REJECTED), rows, "rejection")


CLAIM = Claim("refused_for_cause", ("SR-5",), cases)
