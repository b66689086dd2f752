"""Where servers' clocks were, and lab time from what they say.

A server's wall clock may be wrong. The host's monotonic clock is not, and stands beside the date in
every row; so a row is placed in lab time by it, and the difference is by how much the date was off.
What a server keeps on disk goes by its steady clock, of which the date may be ahead (SM-18), and
says no monotonic time: there the skew of the life that wrote it counts, where it is clear which.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined, small

LAB_MS = "CAST(IF(mono_ns < zero_ns, 0L, mono_ns - zero_ns) * speed / 1000000 AS BIGINT)"
STEADY_MS = "off_ms - coalesce(ahead_ms, 0L)"
# a clock is seen to be off when it is so by this many times the resolution
FAR_ABOVE = 5


def placed(rows: DataFrame, runs: DataFrame, at: str = "at_ms") -> DataFrame:
    """`rows` with the column `at` in lab time and `off_ms`, by how much their date was ahead of it.

    A difference no coarser than the clock resolves is none. Rows that say no monotonic time, or
    whose run does not say where its zero is, stay where their date puts them.
    """
    known = runs.select("run", "zero_ns", "speed", "finest_ms")
    timed = rows.join(small(known), "run", "left").withColumn("off_ms", F.expr(f"{at} - {LAB_MS}"))
    off = "IF(coalesce(abs(off_ms) > greatest(finest_ms, 1L), false), off_ms, 0L)"
    return (
        timed.withColumn("off_ms", F.expr(off))
        .withColumn(at, F.expr(f"{at} - off_ms"))
        .drop("zero_ns", "speed", "finest_ms")
    )


def lives(lifecycle: DataFrame) -> DataFrame:
    """`run`, `server`, `lives`: each life of the process, in order, from `lo_ms` (the first: 0) to
    before `hi_ms` (null: open), and `skew_ms`, the skew of its steady clock.

    A life begins with `configured`, or where a server writes none, with `started`.
    """
    begun = [
        F.expr(
            f"array_sort(collect_list(struct(at_ms AS lo_ms, {STEADY_MS} AS skew_ms)) "
            f"FILTER (WHERE event = '{event}' AND at_ms IS NOT NULL)) AS {event}"
        )
        for event in ("configured", "started")
    ]
    known = lifecycle.groupBy("run", "server").agg(*begun)
    each = (
        "named_struct('lo_ms', IF(i = 0, 0L, b.lo_ms), "
        "'hi_ms', get(begun, i + 1).lo_ms, 'skew_ms', b.skew_ms)"
    )
    return known.selectExpr(
        "run", "server", "IF(size(configured) > 0, configured, started) AS begun"
    ).selectExpr("run", "server", f"transform(begun, (b, i) -> {each}) AS lives")


def kept(column: str, lives: str = "lives", not_after: str = "NULL") -> str:
    """SQL: the lab time of `column`, a time that a server kept; null where two lives, by different
    clocks, may have written it. `not_after`: lab time by which it was reported, if that is known.
    """
    time = f"{column} - l.skew_ms"
    fits = f"{time} >= l.lo_ms AND coalesce({time} < l.hi_ms, true)"
    told = f"coalesce({time} <= {not_after}, true)"
    times = f"array_distinct(transform(filter({lives}, l -> {fits} AND {told}), l -> {time}))"
    wrong = f"coalesce(exists({lives}, l -> l.skew_ms <> 0), false)"
    return f"CASE WHEN NOT {wrong} THEN {column} WHEN size({times}) = 1 THEN {times}[0] END"


def with_kept(rows: DataFrame, lives: DataFrame, columns: dict[str, str]) -> DataFrame:
    """`rows`, which name their `server`, with `columns` in lab time: each where its condition is
    met.
    """
    known = rows.join(small(lives), ["run", "server"], "left")
    for column, where in columns.items():
        known = known.withColumn(column, F.expr(f"IF({where}, {kept(column)}, {column})"))
    return known.drop("lives")


def clocks_off(rows: DataFrame, lifecycle: DataFrame, runs: DataFrame) -> DataFrame:
    """One row a server whose clock was seen to be off: `least_ms`, `most_ms` (ahead of lab time;
    below 0: behind), `from_ms`, `to_ms` (first and last seen).
    """
    columns = ("run", "server", "at_ms", "off_ms")
    told = lifecycle.where("date IS NOT NULL").select(*columns)
    both = rows.select(*columns).unionByName(told).where("off_ms <> 0")
    far = f"abs(off_ms) > {FAR_ABOVE} * finest_ms"
    seen = joined(both, small(runs.select("run", "finest_ms")), "run").where(far)
    return seen.groupBy("run", "server").agg(
        F.min("off_ms").alias("least_ms"),
        F.max("off_ms").alias("most_ms"),
        F.min("at_ms").alias("from_ms"),
        F.max("at_ms").alias("to_ms"),
    )
