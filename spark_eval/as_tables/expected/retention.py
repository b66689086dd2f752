"""How long each copy must stay, and when it must be gone (SN-1, SN-2, SM-11, SM-12).

Judged on what the queue databases hold at the end. A copy whose time is up goes within a heartbeat;
between the two nothing is asked. Copies in a queue database that was replaced are not asked for.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.as_tables.transforms.server_histories import lost
from spark_eval.spark.joins import joined

KEY = ["run", "server", "network_message_id"]


def stays(
    primaries: DataFrame, forks: DataFrame, copies: DataFrame, histories: DataFrame
) -> DataFrame:
    """One row a copy that a store owes: its `internal_id` there, `keep_until_ms`, `gone_after_ms`,
    the `queues` it may be in.
    """
    key = ["run", "server", "database_id", "internal_id"]
    settings = histories.select("run", "server", "eras", "hold_ms")
    named = primaries.select(*key, "message_id", "network_message_id")
    delivered = (
        joined(named, forks.where("complete AND NOT expired"), key)
        .transform(joined, settings, ["run", "server"])
        .where(f"{lost('database_id')} IS NULL")
    )
    held = copies.where("enabled AND held IS NOT NULL AND own_lost_ms IS NULL")
    return _in_primary_net(delivered).unionByName(_let_go(held)).unionByName(_unacknowledged(held))


def _in_primary_net(delivered: DataFrame) -> DataFrame:
    return delivered.where("network_message_id IS NOT NULL").selectExpr(
        *KEY, "internal_id", "message_id", "'Primary Safety Net' AS what",
        "first_done_ms + hold_ms AS keep_until_ms", "known_ms + hold_ms AS gone_after_ms",
        "array('primary-safety-net') AS queues", "done_ref AS asked_ref",
    )  # fmt: skip


def _let_go(held: DataFrame) -> DataFrame:
    since = "IF(discard.delivered_at_ms IS NULL, discard.at_ms, delivered_at_ms)"
    gone = "discard IS NOT NULL AND promoted IS NULL"
    return held.where(f"{gone} AND {since} IS NOT NULL").selectExpr(
        *KEY, "held.internal_id AS internal_id", "message_id", "'Shadow Safety Net' AS what",
        f"{since} + hold_ms AS keep_until_ms", f"{since} + hold_ms AS gone_after_ms",
        "array('shadow-safety-net') AS queues", "discard.ref AS asked_ref",
    )  # fmt: skip


def _unacknowledged(held: DataFrame) -> DataFrame:
    kept = "discard IS NULL AND promoted IS NULL AND NOT kept_as_primary"
    return held.where(kept).selectExpr(
        *KEY, "held.internal_id AS internal_id", "message_id", "'shadow queue' AS what",
        "stays_until_ms AS keep_until_ms", "stays_until_ms AS gone_after_ms",
        "array('shadow', 'shadow-safety-net') AS queues", "held.ref AS asked_ref",
    )  # fmt: skip
