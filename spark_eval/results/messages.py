"""The life of each message, one row a Message-Id that the workload sent."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

KEY = ["run", "message_id"]


def messages(
    sent: DataFrame,
    outcomes: DataFrame,
    acknowledged: DataFrame,
    copies: DataFrame,
    deliveries: DataFrame,
) -> DataFrame:
    """Columns of `MESSAGES`: who acknowledged it, its shadows, and what became of them."""
    behind = acknowledged.selectExpr(
        *KEY, "primary.internal_id AS internal_id", "primary.database_id AS database_id",
        "primary.network_message_id AS network_message_id",
        "primary.failure IS NOT NULL AND primary.redirect IS NULL AS unprotected",
    )  # fmt: skip
    return (
        sent.join(outcomes, KEY, "left")
        .join(behind, KEY, "left")
        .join(_shadowed(copies), KEY, "left")
        .join(_delivered(deliveries), KEY, "left")
        .selectExpr(
            *KEY, "mail", "sender", "recipients", "submitted_ms",
            "coalesce(attempts, 0) AS attempts",
            "coalesce(outcome, 'in doubt') AS outcome", "ok.server AS acknowledged_server",
            "ok.ended_ms AS acknowledged_ms", "internal_id", "database_id", "network_message_id",
            "unprotected", "shadow_servers", "coalesce(promotions, 0) AS promotions",
            "coalesce(discards, 0) AS discards", "coalesce(deliveries, 0) AS deliveries",
            "first_delivery_ms", "last_delivery_ms",
        )
    )  # fmt: skip


def _shadowed(copies: DataFrame) -> DataFrame:
    return copies.groupBy(*KEY).agg(
        F.expr("array_sort(collect_set(server)) AS shadow_servers"),
        F.expr("CAST(count(promoted) AS INT) AS promotions"),
        F.expr("CAST(count(discard) AS INT) AS discards"),
    )


def _delivered(deliveries: DataFrame) -> DataFrame:
    return deliveries.groupBy(*KEY).agg(
        F.expr("CAST(sum(copies) AS INT) AS deliveries"),
        F.min("first_ms").alias("first_delivery_ms"),
        F.max("first_ms").alias("last_delivery_ms"),
    )
