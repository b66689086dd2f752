"""What the page shows, as bounded rows out of the tables of `evaluation/`.

Everything is aggregated or cut off before it reaches the driver: moments of a timeline, slices of
lab time, whole lab seconds. A night's mail makes a page no larger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.collected import collected
from spark_eval.report.rows import LATE_MS, MOST_MESSAGES, MOST_UNDELIVERED, ReportRows, Rows
from spark_eval.story.row import StoryLine

Tables = Mapping[str, DataFrame]

SLICES = 120
MOST_POINTS = 400
MOST_FAULTS = 200
MOST_STORY_LINES = 4000
MOST_FATES = 12

UNDELIVERED = "promised AND outcome IN ('lost', 'excused', 'unknown')"
PAIR = ("shadow_server", "primary_server", "cause")
TOO_EARLY = "IF(promoted_ms < not_before_ms, 'early', 'spurious')"
PROMOTED = f"""CASE WHEN earliness = 'violated' THEN {TOO_EARLY}
  WHEN timeliness = 'violated' THEN IF(promoted_ms IS NULL, 'missing', 'late')
  WHEN promoted_ms IS NOT NULL THEN 'on time' ELSE 'not shown' END"""


def build(tables: Tables, stories: Sequence[StoryLine], end_ms: int) -> ReportRows:
    """`tables` by name and `stories`, of one run; `end_ms` is the length of its lab time."""
    width_ms = max(end_ms // SLICES, 1)
    shown = {
        "faults": _faults(tables["fault_windows"]),
        "moments": _moments(tables["timeline_events"]),
        "phases": _phases(tables["delays"]),
        "delays": _delays(tables["delays"], width_ms),
        "fates": _fates(tables["deliveries"]),
        "undelivered": _undelivered(tables["deliveries"]),
        "undelivered_slices": _undelivered_slices(tables["deliveries"], width_ms),
        "messages": _messages(tables["deliveries"]),
        "promotions": _promotions(tables["promotions"], tables["promotion_delays"]),
        "promotion_windows": _promotion_windows(tables["promotions"]),
        "promotion_points": _promotion_points(tables["promotions"]),
        "attempts": _attempts(tables["attempts"]),
    }
    # tables that a run has only where its plan may make somebody ask a Safety Net
    if "transitions" in tables:
        shown["transitions"] = _transitions(tables["transitions"])
    if "operations" in tables:
        shown["operations"] = _operations(tables["operations"])
    none: dict[str, Rows] = {"transitions": [], "operations": []}
    told = sorted(stories, key=lambda line: line.order)[:MOST_STORY_LINES]
    return ReportRows(**none | collected(shown), stories=[line.as_row() for line in told])


def _transitions(changes: DataFrame) -> DataFrame:
    ordered = changes.drop("run").orderBy("mounted_ms", "database", "epoch")
    return ordered.limit(MOST_FAULTS)


def _operations(operations: DataFrame) -> DataFrame:
    ordered = operations.drop("run").orderBy("planned_ms", "operation")
    return ordered.limit(MOST_FAULTS)


def _faults(windows: DataFrame) -> DataFrame:
    ordered = windows.drop("run").orderBy("applied_ms", "fault")
    return ordered.limit(MOST_FAULTS)


def _moments(events: DataFrame) -> DataFrame:
    return events.drop("run").orderBy("at_ms", "lane", "kind", "detail")


def _phases(delays: DataFrame) -> DataFrame:
    """Before, during, after: how many deliveries, and how long they took."""
    by_phase = delays.groupBy("phase").agg(
        F.count("*").alias("deliveries"),
        F.min("delay_ms").alias("min_ms"),
        F.expr("percentile(delay_ms, 0.5) AS median_ms"),
        F.expr("percentile(delay_ms, 0.95) AS p95_ms"),
        F.max("delay_ms").alias("max_ms"),
    )
    return by_phase.orderBy(F.expr("array_position(array('before', 'during', 'after'), phase)"))


def _delays(delays: DataFrame, width_ms: int) -> DataFrame:
    """Per slice of lab time, late ones by themselves: how many, median and worst delay."""
    sliced = delays.selectExpr(
        "*", f"submitted_ms DIV {width_ms}L AS slice", f"delay_ms > {LATE_MS} AS late"
    )
    grouped = sliced.groupBy("late", "slice").agg(
        F.count("*").alias("deliveries"),
        F.min("submitted_ms").alias("at_ms"),
        F.min("delay_ms").alias("min_ms"),
        F.expr("percentile(delay_ms, 0.5) AS median_ms"),
        F.max("delay_ms").alias("max_ms"),
    )
    return grouped.orderBy("at_ms", "late")


def _fates(deliveries: DataFrame) -> DataFrame:
    """Why what was promised was not delivered: outcome, reason, how many; the most first."""
    grouped = deliveries.where(UNDELIVERED).groupBy("outcome", "reason")
    counted = grouped.agg(F.count("*").alias("deliveries"))
    ordered = counted.orderBy(F.desc("deliveries"), "outcome", "reason")
    return ordered.limit(MOST_FATES)


def _undelivered(deliveries: DataFrame) -> DataFrame:
    """Each of them, the first `MOST_UNDELIVERED`."""
    known = deliveries.where(UNDELIVERED).select(
        "message_id", "recipient", "outcome", "reason", "submitted_ms", "acknowledged_ms", "refs"
    )
    return known.orderBy("submitted_ms", "message_id", "recipient").limit(MOST_UNDELIVERED)


def _undelivered_slices(deliveries: DataFrame, width_ms: int) -> DataFrame:
    """All of them, counted by slice of lab time and outcome."""
    sliced = deliveries.where(UNDELIVERED).selectExpr(
        "outcome", "submitted_ms", f"submitted_ms DIV {width_ms}L AS slice"
    )
    grouped = sliced.groupBy("outcome", "slice").agg(
        F.count("*").alias("deliveries"), F.min("submitted_ms").alias("at_ms")
    )
    return grouped.orderBy("at_ms", "outcome")


def _messages(deliveries: DataFrame) -> DataFrame:
    """What became of each message, for each recipient; first those with a delivery not made."""
    made = "named_struct('recipient', recipient, 'outcome', outcome, 'at_ms', first_ms)"
    grouped = deliveries.groupBy("message_id").agg(
        F.min("submitted_ms").alias("submitted_ms"),
        F.expr(f"sort_array(collect_list({made})) AS recipients"),
        F.expr("bool_and(outcome = 'delivered') AS delivered"),
    )
    ordered = grouped.orderBy("delivered", "submitted_ms", "message_id")
    return ordered.limit(MOST_MESSAGES)


def _promotions(promotions: DataFrame, delays: DataFrame) -> DataFrame:
    """Per pair of servers and cause: what became of what was due, and how long it took."""
    counts = (
        promotions.where("cause IS NOT NULL")
        .selectExpr(*PAIR, f"{PROMOTED} AS what")
        .groupBy(*PAIR)
        .agg(
            *(
                F.expr(f"count_if(what = '{what}')").alias(what.replace(" ", "_"))
                for what in ("on time", "late", "missing", "early", "spurious")
            )
        )
    )
    timed = delays.groupBy(*PAIR).agg(
        F.min("delay_ms").alias("min_ms"),
        F.expr("percentile(delay_ms, 0.5) AS median_ms"),
        F.max("delay_ms").alias("max_ms"),
        F.min("bound_ms").alias("bound_ms"),
    )
    both = counts.join(timed, list(PAIR), "left")
    return both.orderBy(*PAIR)


def _promotion_windows(promotions: DataFrame) -> DataFrame:
    """When promotions were due: not before, not after; to the second."""
    bounds = promotions.where("cause IS NOT NULL AND not_after_ms IS NOT NULL").selectExpr(
        *PAIR, "not_before_ms DIV 1000 AS from_s", "not_after_ms DIV 1000 AS to_s"
    )
    counted = bounds.groupBy(*PAIR, "from_s", "to_s").agg(F.count("*").alias("promotions"))
    return counted.orderBy(*PAIR, "from_s", "to_s").limit(MOST_POINTS)


def _promotion_points(promotions: DataFrame) -> DataFrame:
    """When they came; those that never did, when they were due at the latest. To the second."""
    drawn = promotions.selectExpr(
        *PAIR, f"{PROMOTED} AS what", "coalesce(promoted_ms, not_after_ms) DIV 1000 AS at_s"
    )
    counted = drawn.where("what <> 'not shown' AND at_s IS NOT NULL").groupBy(*PAIR, "what", "at_s")
    ordered = counted.agg(F.count("*").alias("promotions")).orderBy("at_s", *PAIR, "what")
    return ordered.limit(MOST_POINTS)


def _attempts(attempts: DataFrame) -> DataFrame:
    grouped = attempts.groupBy("outcome").agg(F.count("*").alias("attempts"))
    return grouped.orderBy("outcome")
