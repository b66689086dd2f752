"""Shadow messages: one row for each copy held, or said to be held, for a primary server.

The key is (shadow server, primary server, its database id, its internal id). Four voices speak of a
copy: the primary that says it made it (HAREDIRECT), the shadow server that took it (HARECEIVE), let
it go (HADISCARD), or promoted it (RESUBMIT). What they agree on is for the claims.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

KEY = ("run", "server", "primary_server", "primary_database_id", "primary_internal_id")
PROMOTED = "event = 'RESUBMIT' AND source = 'REDUNDANCY'"


def shadows(tracking: DataFrame, kept: DataFrame) -> DataFrame:
    """`claimed`, `held`, `discard`, `promoted` (structs or null), `promotions`, `kept` evidence.

    `kept_as_shadow`, `kept_as_primary`: the store of the shadow server held the message in that
    role, by LOAD after a restart or by the queue listing at the end; `loaded_ms`: when it was
    loaded as a primary message. `in_safety_net`: the listing shows it let go.
    """
    told = tracking.where(f"event IN ('HARECEIVE', 'HADISCARD') OR ({PROMOTED})").selectExpr(
        "run", "server", "primary_server",
        "coalesce(primary_database_id, '') AS primary_database_id",
        "primary_internal_id", "event", "message_id", "network_message_id", *_TOLD,
    )  # fmt: skip
    claimed = tracking.where("event = 'HAREDIRECT'").selectExpr(
        "run", "shadow_server AS server", "server AS primary_server",
        "coalesce(database_id, '') AS primary_database_id", "internal_id AS primary_internal_id",
        "event", "message_id", "network_message_id", *_TOLD,
    )  # fmt: skip
    rows = told.unionByName(claimed).where("primary_internal_id IS NOT NULL")
    copies = rows.groupBy(*KEY).agg(
        F.expr("max(message_id) AS message_id"),
        F.expr("max(network_message_id) AS network_message_id"),
        _first("HAREDIRECT", "claimed"),
        _first("HARECEIVE", "held"),
        _first("HADISCARD", "discard"),
        _first("RESUBMIT", "promoted"),
        F.expr("CAST(count_if(event = 'RESUBMIT') AS INT) AS promotions"),
    )
    return copies.join(kept, ["run", "server", "network_message_id"], "left").selectExpr(
        *KEY, "message_id", "network_message_id", "claimed", "held", "discard", "promoted",
        "promotions", "coalesce(kept_as_shadow, false) AS kept_as_shadow",
        "coalesce(kept_as_primary, false) AS kept_as_primary", "loaded_ms",
        "coalesce(in_safety_net, false) AS in_safety_net",
    )  # fmt: skip


_TOLD = (
    "at_ms",
    "mono_ns",
    "struct(at_ms, mono_ns, coalesce(database_id, '') AS database_id, internal_id, recipients, "
    "attempts, context, delivered_at_ms, last_contact_ms, ref) AS row",
)


def _first(event: str, name: str) -> Column:
    order = "struct(coalesce(mono_ns, at_ms), row.ref)"
    return F.expr(f"min_by(row, {order}) FILTER (WHERE event = '{event}') AS {name}")


def kept_copies(tracking: DataFrame, queues: DataFrame) -> DataFrame:
    """What the stores themselves showed, by server and network message id."""
    loads = tracking.where("event = 'LOAD'").selectExpr(
        "run", "server", "network_message_id", "context = 'shadow' AS as_shadow",
        "IF(context = 'shadow', CAST(NULL AS BIGINT), at_ms) AS loaded_ms", "false AS in_net",
    )  # fmt: skip
    listed = queues.where("queue <> 'discard'").selectExpr(
        "run", "server", "network_message_id",
        "queue IN ('shadow', 'shadow-safety-net') AS as_shadow",
        "CAST(NULL AS BIGINT) AS loaded_ms",
        "queue = 'shadow-safety-net' AS in_net",
    )  # fmt: skip
    both = loads.unionByName(listed).where("network_message_id IS NOT NULL")
    return both.groupBy("run", "server", "network_message_id").agg(
        F.expr("bool_or(as_shadow) AS kept_as_shadow"),
        F.expr("bool_or(NOT as_shadow) AS kept_as_primary"),
        F.expr("min(loaded_ms) AS loaded_ms"),
        F.expr("bool_or(in_net) AS in_safety_net"),
    )
