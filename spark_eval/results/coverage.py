"""Which faults met which part of a message's life: what a sweep has tried, whatever came of it.

A message meets a fault when the fault's possible extent overlaps the phase and the fault concerns a
server that had the message, as its primary or as the holder of its shadow; while it is submitted,
those that were asked to take it too. A fault of links concerns both of their ends, and a failover
of a mailbox database, which counts like a fault, the servers of both copies.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.expected.resubmission import Resubmission
from spark_eval.expected.tables import Tables
from spark_eval.spark.joins import joined
from spark_eval.transforms.fault_windows import EXTENTS, SEEN

PHASES = ("submitting", "shadowing", "queued", "awaiting-discard", "in-safety-net")
KEY = ["run", "message_id"]
NO_NAMES = "CAST(array() AS array<string>)"
_ASKED = "concat(tried, had)"


def coverage(tables: Tables) -> DataFrame:
    """`run`, `phase`, `kind` (of fault), `messages` (how many met it)."""
    happened = _faults(tables.windows)
    if tables.resubmission is not None:
        happened = happened.unionByName(_failovers(tables.resubmission))
    met = _phases(tables).transform(joined, happened, "run")
    met = met.where("lo <= fault_hi AND hi >= fault_lo AND arrays_overlap(servers, concerned)")
    return met.groupBy("run", "phase", "kind").agg(F.count_distinct("message_id").alias("messages"))


def _faults(windows: DataFrame) -> DataFrame:
    """`run`, `kind`, `fault_lo`, `fault_hi`, `concerned`; a kind names its way,
    as `cut-stall` and `slow-replies`."""
    ends = f"flatten(transform(links, l -> array(lower(l.`from`), lower(l.`to`)))), {NO_NAMES}"
    return (
        windows.where(SEEN)
        .selectExpr("*", EXTENTS[0])
        .selectExpr(
            "run", "concat_ws('-', kind, cut_kind, direction) AS kind",
            "possible.lo AS fault_lo", "possible.hi AS fault_hi",
            f"IF(server IS NOT NULL, array(server), coalesce({ends})) AS concerned",
        )
    )  # fmt: skip


def _failovers(known: Resubmission) -> DataFrame:
    """The same of changes of an active copy, from its mount until every server knew of it."""
    times = known.asked.groupBy("run", "database", "epoch", "from", "to").agg(
        F.min("mounted.at_ms").alias("fault_lo"), F.max("learnt.at_ms").alias("known_ms")
    )
    return times.selectExpr(
        "run", "'failover' AS kind", "fault_lo", "greatest(known_ms, fault_lo) AS fault_hi",
        "array(`from`, `to`) AS concerned",
    )  # fmt: skip


def _phases(tables: Tables) -> DataFrame:
    """One row a message and phase that it came to: `lo`, `hi`, `servers`; open ones last to the
    end.
    """
    lives = (
        _tried(tables.attempts)
        .join(_held(tables), KEY, "left")
        .join(_finished(tables.deliveries), KEY, "left")
        .transform(joined, tables.record.runs.select("run", "end_ms"), "run")
        .selectExpr("*", f"coalesce(holders, {NO_NAMES}) AS had")
        .selectExpr("*", "coalesce(done_ms, seen_ms) AS last_ms")
    )
    spans = (
        _span("submitting", "first_ms", "coalesce(acked_ms, ended_ms, end_ms)", _ASKED),
        _span("shadowing", "acked_from_ms", "shadowed_ms"),
        _span("queued", "received_ms", "coalesce(last_ms, end_ms)"),
        _span("awaiting-discard", "IF(shadowed_ms IS NULL, NULL, last_ms)",
              "coalesce(discarded_ms, end_ms)"),
        _span("in-safety-net", "greatest(last_ms, discarded_ms)", "end_ms"),
    )  # fmt: skip
    there = f"filter(array({', '.join(spans)}), s -> s.lo IS NOT NULL AND s.hi IS NOT NULL)"
    return lives.selectExpr(*KEY, f"inline({there})")


def _span(phase: str, lo: str, hi: str, servers: str = "had") -> str:
    return f"named_struct('phase', '{phase}', 'lo', {lo}, 'hi', {hi}, 'servers', {servers})"


def _tried(attempts: DataFrame) -> DataFrame:
    ok = "FILTER (WHERE outcome = 'ok')"
    return attempts.groupBy(*KEY).agg(
        F.min("started_ms").alias("first_ms"),
        F.max("ended_ms").alias("ended_ms"),
        F.expr(f"min_by(started_ms, attempt) {ok} AS acked_from_ms"),
        F.expr(f"min_by(ended_ms, attempt) {ok} AS acked_ms"),
        F.collect_set("server").alias("tried"),
    )


def _held(tables: Tables) -> DataFrame:
    """Who had the message, and when it was received, shadowed, done and let go."""
    key = ["run", "server", "database_id", "internal_id"]
    done = tables.forks.where("complete").select(*key, "done_ms")
    nothing = "CAST(NULL AS BIGINT)"
    owned = tables.primaries.join(done, key, "left").selectExpr(
        *KEY, "server", "born.at_ms AS received_ms", "redirect.at_ms AS shadowed_ms", "done_ms",
        f"{nothing} AS discarded_ms",
    )  # fmt: skip
    copies = tables.copies.selectExpr(
        *KEY, "server", f"{nothing} AS received_ms", "held_ms AS shadowed_ms",
        f"{nothing} AS done_ms", "discard.at_ms AS discarded_ms",
    )  # fmt: skip
    return (
        owned.unionByName(copies)
        .groupBy(*KEY)
        .agg(
            F.collect_set("server").alias("holders"),
            F.min("received_ms").alias("received_ms"),
            F.min("shadowed_ms").alias("shadowed_ms"),
            F.min("done_ms").alias("done_ms"),
            F.max("discarded_ms").alias("discarded_ms"),
        )
    )


def _finished(deliveries: DataFrame) -> DataFrame:
    return deliveries.groupBy(*KEY).agg(
        F.expr("IF(bool_and(first_ms IS NOT NULL), max(first_ms), NULL) AS seen_ms")
    )
