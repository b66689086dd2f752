"""What the page shows, as bounded rows out of the tables of `evaluation/`.

Everything is aggregated or cut off before it reaches the driver: moments of a timeline, slices of
lab time, whole lab seconds. A night's mail makes a page no larger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_eval.report.rows import LATE_MS, MOST_MESSAGES, MOST_UNDELIVERED, ReportRows, Rows
from spark_eval.sql.collected import collected
from spark_eval.story.row import StoryLine

Tables = Mapping[str, DataFrame]

SLICES = 120
MOST_POINTS = 400
MOST_FAULTS = 200
MOST_STORY_LINES = 4000
MOST_FATES = 12

UNDELIVERED = "promised AND outcome IN ('lost', 'excused', 'unknown')"
PAIR = ("run", "shadow_server", "primary_server", "cause")
TOO_EARLY = "IF(promoted_ms < not_before_ms, 'early', 'spurious')"
PROMOTED = f"""CASE WHEN earliness = 'violated' THEN {TOO_EARLY}
  WHEN timeliness = 'violated' THEN IF(promoted_ms IS NULL, 'missing', 'late')
  WHEN promoted_ms IS NOT NULL THEN 'on time' ELSE 'not shown' END"""


def build(tables: Tables, ends: Mapping[str, int]) -> dict[str, ReportRows]:
    """By run, all but its stories. `tables` by name; `ends` says by run how long its lab time is,
    in ms, and which runs are shown.
    """
    told = collected(_shown(_of_runs(tables, list(ends)), _width_ms(ends)))
    names = [each.name for each in fields(ReportRows)]
    found: dict[str, dict[str, Rows]] = {run: {name: [] for name in names} for run in ends}
    for name, rows in told.items():
        for row in rows:
            found[row.pop("run")][name].append(row)
    return {run: ReportRows(**lists) for run, lists in found.items()}


def with_stories(rows: ReportRows, stories: Sequence[StoryLine]) -> ReportRows:
    """The same page with the first lines of `stories`."""
    told = sorted(stories, key=lambda line: line.order)[:MOST_STORY_LINES]
    return replace(rows, stories=[line.as_row() for line in told])


def _of_runs(tables: Tables, runs: Sequence[str]) -> Tables:
    return {name: rows.where(F.col("run").isin(*runs)) for name, rows in tables.items()}


def _width_ms(ends: Mapping[str, int]) -> Column:
    """How wide a slice of a row's run is."""
    widths = [(F.lit(run), F.lit(max(end // SLICES, 1))) for run, end in ends.items()]
    return F.create_map(*(each for pair in widths for each in pair))[F.col("run")]


def _shown(tables: Tables, width_ms: Column) -> dict[str, DataFrame]:
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
        shown["transitions"] = _first(
            tables["transitions"], MOST_FAULTS, "mounted_ms", "database", "epoch"
        )
    if "operations" in tables:
        shown["operations"] = _first(tables["operations"], MOST_FAULTS, "planned_ms", "operation")
    return shown


def _first(rows: DataFrame, most: int, *order: str) -> DataFrame:
    """The first so many of each run, in order."""
    number = f"row_number() OVER (PARTITION BY run ORDER BY {', '.join(order)})"
    numbered = rows.selectExpr("*", f"{number} AS nth").where(f"nth <= {most}")
    return numbered.orderBy("run", "nth").drop("nth")


def _faults(windows: DataFrame) -> DataFrame:
    return _first(windows, MOST_FAULTS, "applied_ms", "fault")


def _moments(events: DataFrame) -> DataFrame:
    return events.orderBy("run", "at_ms", "lane", "kind", "detail")


def _phases(delays: DataFrame) -> DataFrame:
    """Before, during, after: how many deliveries, and how long they took."""
    by_phase = delays.groupBy("run", "phase").agg(
        F.count("*").alias("deliveries"),
        F.min("delay_ms").alias("min_ms"),
        F.expr("percentile(delay_ms, 0.5) AS median_ms"),
        F.expr("percentile(delay_ms, 0.95) AS p95_ms"),
        F.max("delay_ms").alias("max_ms"),
    )
    order = F.expr("array_position(array('before', 'during', 'after'), phase)")
    return by_phase.orderBy("run", order)


def _delays(delays: DataFrame, width_ms: Column) -> DataFrame:
    """Per slice of lab time, late ones by themselves: how many, median and worst delay."""
    late = F.expr(f"delay_ms > {LATE_MS} AS late")
    sliced = delays.select("*", _slice(width_ms), late)
    grouped = sliced.groupBy("run", "late", "slice").agg(
        F.count("*").alias("deliveries"),
        F.min("submitted_ms").alias("at_ms"),
        F.min("delay_ms").alias("min_ms"),
        F.expr("percentile(delay_ms, 0.5) AS median_ms"),
        F.max("delay_ms").alias("max_ms"),
    )
    return grouped.orderBy("run", "at_ms", "late")


def _slice(width_ms: Column) -> Column:
    return F.call_function("div", F.col("submitted_ms"), width_ms).alias("slice")


def _fates(deliveries: DataFrame) -> DataFrame:
    """Why what was promised was not delivered: outcome, reason, how many; the most first."""
    grouped = deliveries.where(UNDELIVERED).groupBy("run", "outcome", "reason")
    counted = grouped.agg(F.count("*").alias("deliveries"))
    return _first(counted, MOST_FATES, "deliveries DESC", "outcome", "reason")


def _undelivered(deliveries: DataFrame) -> DataFrame:
    """Each of them, the first `MOST_UNDELIVERED`."""
    known = deliveries.where(UNDELIVERED).select(
        "run", "message_id", "recipient", "outcome", "reason", "submitted_ms",
        "acknowledged_ms", "refs",
    )  # fmt: skip
    return _first(known, MOST_UNDELIVERED, "submitted_ms", "message_id", "recipient")


def _undelivered_slices(deliveries: DataFrame, width_ms: Column) -> DataFrame:
    """All of them, counted by slice of lab time and outcome."""
    columns = ("run", "outcome", "submitted_ms", _slice(width_ms))
    grouped = (
        deliveries.where(UNDELIVERED)
        .select(*columns)
        .groupBy("run", "outcome", "slice")
        .agg(F.count("*").alias("deliveries"), F.min("submitted_ms").alias("at_ms"))
    )
    return grouped.orderBy("run", "at_ms", "outcome")


def _messages(deliveries: DataFrame) -> DataFrame:
    """What became of each message, for each recipient; first those with a delivery not made."""
    made = "named_struct('recipient', recipient, 'outcome', outcome, 'at_ms', first_ms)"
    grouped = deliveries.groupBy("run", "message_id").agg(
        F.min("submitted_ms").alias("submitted_ms"),
        F.expr(f"sort_array(collect_list({made})) AS recipients"),
        F.expr("bool_and(outcome = 'delivered') AS delivered"),
    )
    return _first(grouped, MOST_MESSAGES, "delivered", "submitted_ms", "message_id")


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
    return _first(counted, MOST_POINTS, *PAIR, "from_s", "to_s")


def _promotion_points(promotions: DataFrame) -> DataFrame:
    """When they came; those that never did, when they were due at the latest. To the second."""
    drawn = promotions.selectExpr(
        *PAIR, f"{PROMOTED} AS what", "coalesce(promoted_ms, not_after_ms) DIV 1000 AS at_s"
    )
    seen = drawn.where("what <> 'not shown' AND at_s IS NOT NULL")
    counted = seen.groupBy(*PAIR, "what", "at_s").agg(F.count("*").alias("promotions"))
    return _first(counted, MOST_POINTS, "at_s", *PAIR, "what")


def _attempts(attempts: DataFrame) -> DataFrame:
    grouped = attempts.groupBy("run", "outcome").agg(F.count("*").alias("attempts"))
    return grouped.orderBy("run", "outcome")
