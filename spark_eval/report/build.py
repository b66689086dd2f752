"""What the page shows, as bounded rows out of the tables of `evaluation/`.

Everything is aggregated or cut off before it reaches the driver: moments of a timeline, slices of
lab time, whole lab seconds. A night's mail makes a page no larger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.report.rows import ReportRows, Rows

Tables = Mapping[str, DataFrame]

SLICES = 120
MOST_POINTS = 400
MOST_FAULTS = 200
MOST_STORY_LINES = 4000
IN_ORDER = ("at_ms", "mono_ns", "ref.file", "ref.line")


def build(tables: Tables, end_ms: int, pool: ThreadPoolExecutor) -> ReportRows:
    """`tables` by name, of one run; `end_ms` is the length of its lab time."""
    width_ms = max(end_ms // SLICES, 1)
    jobs: dict[str, Callable[[], Rows]] = {
        "faults": lambda: _faults(tables["fault_windows"]),
        "moments": lambda: _moments(tables["timeline_events"]),
        "phases": lambda: _phases(tables["delays"]),
        "delays": lambda: _delays(tables["delays"], width_ms),
        "promotions": lambda: _promotions(tables["promotion_delays"]),
        "promotion_points": lambda: _promotion_points(tables["promotion_delays"]),
        "attempts": lambda: _attempts(tables["attempts"]),
        "stories": lambda: _stories(tables["stories"]),
        "transitions": lambda: _if_there(tables, "transitions", _transitions),
        "operations": lambda: _if_there(tables, "operations", _operations),
    }
    running = {name: pool.submit(job) for name, job in jobs.items()}
    return ReportRows(**{name: job.result() for name, job in running.items()})


def _rows(table: DataFrame) -> Rows:
    return [row.asDict(recursive=True) for row in table.collect()]


def _if_there(tables: Tables, name: str, of: Callable[[DataFrame], Rows]) -> Rows:
    """Of a table that a run has only where its plan may make somebody ask a Safety Net."""
    return of(tables[name]) if name in tables else []


def _transitions(changes: DataFrame) -> Rows:
    ordered = changes.drop("run").orderBy("mounted_ms", "database", "epoch")
    return _rows(ordered.limit(MOST_FAULTS))


def _operations(operations: DataFrame) -> Rows:
    ordered = operations.drop("run").orderBy("planned_ms", "operation")
    return _rows(ordered.limit(MOST_FAULTS))


def _faults(windows: DataFrame) -> Rows:
    ordered = windows.drop("run").orderBy("applied_ms", "fault")
    return _rows(ordered.limit(MOST_FAULTS))


def _moments(events: DataFrame) -> Rows:
    return _rows(events.drop("run").orderBy("at_ms", "lane", "kind", "detail"))


def _phases(delays: DataFrame) -> Rows:
    """Before, during, after: how many deliveries, and how long they took."""
    by_phase = delays.groupBy("phase").agg(
        F.count("*").alias("deliveries"),
        F.min("delay_ms").alias("min_ms"),
        F.expr("percentile(delay_ms, 0.5) AS median_ms"),
        F.expr("percentile(delay_ms, 0.95) AS p95_ms"),
        F.max("delay_ms").alias("max_ms"),
    )
    order = ("before", "during", "after")
    return sorted(_rows(by_phase), key=lambda row: order.index(row["phase"]))


def _delays(delays: DataFrame, width_ms: int) -> Rows:
    """Per slice of lab time and phase: median and worst delay."""
    sliced = delays.withColumn("slice", F.expr(f"submitted_ms DIV {width_ms}L"))
    grouped = sliced.groupBy("phase", "slice").agg(
        F.count("*").alias("deliveries"),
        F.min("submitted_ms").alias("at_ms"),
        F.expr("percentile(delay_ms, 0.5) AS median_ms"),
        F.max("delay_ms").alias("max_ms"),
    )
    return _rows(grouped.orderBy("at_ms", "phase"))


def _promotions(delays: DataFrame) -> Rows:
    grouped = delays.groupBy("shadow_server", "primary_server", "cause").agg(
        F.count("*").alias("promotions"),
        F.min("delay_ms").alias("min_ms"),
        F.expr("percentile(delay_ms, 0.5) AS median_ms"),
        F.max("delay_ms").alias("max_ms"),
        F.min("bound_ms").alias("bound_ms"),
        F.expr("count_if(delay_ms > bound_ms) AS late"),
        F.expr("count_if(promoted_ms < not_before_ms) AS early"),
    )
    return _rows(grouped.orderBy("shadow_server", "primary_server", "cause"))


def _promotion_points(delays: DataFrame) -> Rows:
    key = ["shadow_server", "primary_server", "cause"]
    whole = delays.withColumn("seconds", F.expr("CAST(floor(delay_ms / 1000) AS BIGINT)"))
    grouped = whole.groupBy(*key, "seconds").agg(F.count("*").alias("promotions"))
    return _rows(grouped.where("seconds IS NOT NULL").orderBy(*key, "seconds").limit(MOST_POINTS))


def _attempts(attempts: DataFrame) -> Rows:
    grouped = attempts.groupBy("outcome").agg(F.count("*").alias("attempts"))
    return _rows(grouped.orderBy("outcome"))


def _stories(stories: DataFrame) -> Rows:
    return _rows(stories.drop("run").orderBy(*IN_ORDER).limit(MOST_STORY_LINES))
