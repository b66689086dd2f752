"""Lines that say two times of one moment, lab time and the host's monotonic clock, which differ.

Both come from one reading, so they agree to the millisecond; dates of servers' logs are held to no
less than the clock resolves. A server whose clock a fault was to set is not asked.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.read.clocks import LAB_MS
from spark_eval.read.contradictions.made_by_lab import finding, found_in
from spark_eval.spark.joins import joined, small

TWO_TIMES = "a time that its monotonic clock denies"
ROUNDED_MS = 1
JOURNALS = "('faults', 'operations', 'strangers')"
TIMES = "at_ms BIGINT, mono_ns BIGINT"


def of_clocks(
    made: DataFrame, records: DataFrame, ledger: DataFrame, rows: DataFrame, lifecycle: DataFrame
) -> DataFrame:
    """Contradictions, as `found_in` gives them. `rows` and `lifecycle` are placed, so that they say
    how far they were off.
    """
    return _of_lab(made, records, ledger).unionByName(_of_servers(made, rows, lifecycle))


def _of_lab(made: DataFrame, records: DataFrame, ledger: DataFrame) -> DataFrame:
    journaled = records.where(f"sound AND kind IN {JOURNALS}").selectExpr(
        "run", "file", "line", f"from_json(text, '{TIMES}') AS r"
    )
    lines = journaled.selectExpr("run", "file", "line", "r.at_ms", "r.mono_ns")
    sent = ledger.selectExpr(
        "run", "file", "ref.line AS line",
        "coalesce(submitted_ms, started_ms, ended_ms) AS at_ms", "mono_ns",
    )  # fmt: skip
    known = lines.unionByName(sent).transform(joined, small(made), "run")
    differ = f"at_ms NOT BETWEEN {LAB_MS} - {ROUNDED_MS} AND {LAB_MS} + {ROUNDED_MS}"
    return found_in(known.where(differ), finding("true", "file", "line", TWO_TIMES))


def _of_servers(made: DataFrame, rows: DataFrame, lifecycle: DataFrame) -> DataFrame:
    both = (
        rows.where("off_ms <> 0")
        .select("run", "server", "file", "line")
        .unionByName(
            lifecycle.where("off_ms <> 0").selectExpr("run", "server", "file", "ref.line AS line")
        )
    )
    known = joined(both, small(made), "run").where("NOT array_contains(askew, server)")
    return found_in(known, finding("true", "file", "line", TWO_TIMES))
