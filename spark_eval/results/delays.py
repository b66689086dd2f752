"""How long delivery took, and whether the message came before, during or after the faults."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def delays(deliveries: DataFrame, windows: DataFrame) -> DataFrame:
    """One row a delivery that was promised and made; `delay_ms` counts from the first submission.

    `phase` goes by the time of submission; a run without faults is all `before`.
    """
    faults = (
        windows.where("applied_ms IS NOT NULL")
        .groupBy("run")
        .agg(
            F.min("applied_ms").alias("begun_ms"),
            F.max("over_ms").alias("over_ms"),
        )
    )
    made = deliveries.where("promised AND first_ms IS NOT NULL")
    phase = """CASE WHEN coalesce(submitted_ms < begun_ms, true) THEN 'before'
      WHEN submitted_ms <= over_ms THEN 'during' ELSE 'after' END"""
    return made.join(faults, "run", "left").selectExpr(
        "run", "message_id", "recipient", f"{phase} AS phase", "submitted_ms", "acknowledged_ms",
        "first_ms AS delivered_ms", "first_ms - submitted_ms AS delay_ms",
    )  # fmt: skip


def promotion_delays(promotions: DataFrame) -> DataFrame:
    """One row a promotion: how long after its cause, and how long that may take."""
    return promotions.where("promoted IS NOT NULL").selectExpr(
        "run", "message_id", "server AS shadow_server", "primary_server", "cause", "not_before_ms",
        "not_after_ms", "promoted.at_ms AS promoted_ms", "promoted.at_ms - due_ms AS delay_ms",
        "not_after_ms - due_ms AS bound_ms",
    )  # fmt: skip
