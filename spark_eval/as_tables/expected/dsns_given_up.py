"""DSNs that could not be delivered either: a DSN has no sender whom another one could be sent to
(RFC 5321 section 4.5.5), so who should have read it never hears.

It counts where its server logged that it gave the DSN up, and a fault was in its way all the time:
a server that was in trouble with it, and after that no longer than an attempt hangs and the retry
ladder waits (RT-5). That it was not given up too soon is `held_long_enough`'s.

Or it was delivered, and lost with a copy of a mailbox database whose Safety Net could not be asked
in time, or was lost too: `resubmission_complete` says so of it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined, small

READER = ["run", "message_id", "sender"]
REPORT = ["run", "server", "database_id", "report_id"]
PLACE = r"regexp_extract(file, '([^/]+)\\.jsonl$', 1)"
WAIT_MS = "greatest(glitch_ms, transient_ms, outage_ms) + CAST(1000 * speed AS BIGINT)"
OVER_MS = "t.hi + IF(t.hangs, timeout_ms, 0L) + wait_ms"
WAS_IN_TROUBLE = f"""aggregate(array_sort(flatten(collect_list(troubles))), any_value(made_ms),
  (until, t) -> IF(t.lo <= until, greatest(until, {OVER_MS}), until)) >= any_value(failed_ms)"""


def or_lost(given_up: DataFrame, dsns: DataFrame, expected: DataFrame) -> DataFrame:
    """`given_up` and DSNs among `dsns` that were lost with a copy; `expected`, of
    `expected.resubmission`.
    """
    gone = expected.where("lost AND NOT seen AND j.status = 'unknown'").selectExpr(
        "run", "message_id AS report", "explode(recipients) AS sender", "brought_ref AS ref"
    )
    about = joined(dsns.select("run", "report", "message_id"), gone, ["run", "report"])
    lost = about.groupBy(*READER).agg(F.min("ref").alias("lost_ref"))
    both = joined(given_up, lost, READER, "full")
    ref = "coalesce(dsn_given_up_ref, lost_ref) AS dsn_given_up_ref"
    return both.selectExpr(*READER, ref)


def dsns_given_up(
    dsns: DataFrame, tracking: DataFrame, readers: DataFrame, ways: DataFrame, histories: DataFrame
) -> DataFrame:
    """`run`, `message_id`, `sender`, `dsn_given_up_ref`: who was to read which DSN. `dsns` is of
    `transforms.dsns`, `readers` of `expected.deliveries.places`.
    """
    failed = tracking.where("event = 'FAIL' AND source = 'QUEUE'").selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id AS report_id",
        "explode(recipients) AS sender", "at_ms AS failed_ms", "ref AS dsn_given_up_ref",
    )  # fmt: skip
    waits = histories.selectExpr("run", "server", "timeout_ms", f"{WAIT_MS} AS wait_ms")
    given_up = (
        joined(dsns.withColumnRenamed("at_ms", "made_ms").drop("ref"), small(failed), REPORT)
        .transform(joined, readers.selectExpr("run", "recipient AS sender", f"{PLACE} AS place"),
                   ["run", "sender"])
        .transform(joined, waits, ["run", "server"])
        .transform(joined, ways, ["run", "server", "place"])
    )  # fmt: skip
    of_report = given_up.groupBy(*REPORT, "message_id", "sender", "timeout_ms", "wait_ms").agg(
        F.expr(f"{WAS_IN_TROUBLE} AS was_in_trouble"),
        F.min("dsn_given_up_ref").alias("dsn_given_up_ref"),
    )
    of_mail = of_report.where("was_in_trouble").groupBy(*READER)
    return of_mail.agg(F.min("dsn_given_up_ref").alias("dsn_given_up_ref"))
