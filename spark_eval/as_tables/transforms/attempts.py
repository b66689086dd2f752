"""The ledger as the sender lived it: messages sent, attempts, and how each ended.

An attempt without an outcome (the lab died) is unknown, like one whose connection was lost after
the final dot. A message is acknowledged when one of its attempts ended ok.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.read.records import CONTENT
from spark_eval.spark.joins import joined

ATTEMPT = ["run", "server", "message_id", "attempt"]
REPLY_ID = r"nullif(regexp_extract(e.reply, 'InternalId=([^,\\]\\s]+)', 1), '')"


def sent_messages(ledger: DataFrame) -> DataFrame:
    """One row a Message-Id that the workload wrote down before trying to send it; its `content` as
    in `read.records.CONTENT`, `dated_ms`, its `Date:` as Unix epoch ms.
    """
    return ledger.where("type = 'message'").selectExpr(
        "run", "message_id", "mail", "submitted_ms", "lower(sender) AS sender",
        "array_distinct(transform(recipients, r -> lower(r))) AS recipients", "size_bytes", "hops",
        CONTENT, "unix_millis(try_to_timestamp(date)) AS dated_ms", "ref",
    )  # fmt: skip


def attempts(ledger: DataFrame) -> DataFrame:
    """One row an attempt: `result_schema.ATTEMPTS`."""
    key = ["run", "message_id", "attempt"]
    started = ledger.where("type = 'attempt'").selectExpr(
        *key, "server", "started_ms", "mono_ns AS started_mono_ns", "ref AS started_ref"
    )
    ended = ledger.where("type = 'outcome'").selectExpr(
        *key,
        "struct(server, outcome, reply, reason, ended_ms, mono_ns, ref) AS e",
    )
    known = joined(started, ended, key, "full")
    return known.selectExpr(
        *key, "coalesce(server, e.server) AS server", "started_ms", "started_mono_ns",
        "coalesce(e.outcome, 'unknown') AS outcome", "e.reply AS reply", "e.reason AS reason",
        "e.ended_ms AS ended_ms", "e.mono_ns AS ended_mono_ns", f"{REPLY_ID} AS reply_internal_id",
        "coalesce(e.ref, started_ref) AS ref",
    )  # fmt: skip


def written_meanwhile(tried: DataFrame, rows: DataFrame, name: str) -> DataFrame:
    """By attempt, as `name`, the first `ref` of `rows` (`mono_ns`) that its server wrote meanwhile
    about its message. Who is refused tries again for hours: an attempt meets no row of another one.
    """
    spans = tried.select(*ATTEMPT, "started_mono_ns", "ended_mono_ns")
    within = joined(spans, rows, ["run", "server", "message_id"]).where(
        "mono_ns BETWEEN started_mono_ns AND ended_mono_ns"
    )
    return within.groupBy(*ATTEMPT).agg(F.min("ref").alias(name))


def outcomes(attempts: DataFrame) -> DataFrame:
    """One row a Message-Id tried: how it ended, and the attempt that was acknowledged (`ok`)."""
    ok = "min_by(struct(server, ended_ms, ended_mono_ns, reply_internal_id, attempt, ref), attempt)"
    return attempts.groupBy("run", "message_id").agg(
        F.expr("CAST(count(*) AS INT) AS attempts"),
        F.expr(f"{ok} FILTER (WHERE outcome = 'ok') AS ok"),
        F.expr(
            "CASE WHEN bool_or(outcome = 'ok') THEN 'acknowledged' "
            "WHEN bool_or(outcome = 'unknown') THEN 'in doubt' ELSE 'rejected' END AS outcome"
        ),
    )
