"""Who sent what, whether they can be told of it here, and whether they were."""

from __future__ import annotations

from pyspark.sql import DataFrame


def senders(sent: DataFrame, places: DataFrame, told: DataFrame) -> DataFrame:
    """One row a message: its `sender`; `tellable`, whether the sender reads mail here, which the
    null sender never does (RFC 5321 section 6.1); `sender_collected`, whether the record of that is
    there; `dsn_ref`, a DSN about the message that the sender sees.
    """
    reads = places.selectExpr(
        "run", "recipient AS sender", "true AS reads",
        "coalesce(collected, false) AS sender_collected",
    )  # fmt: skip
    known = (
        sent.select("run", "message_id", "sender")
        .join(reads, ["run", "sender"], "left")
        .join(told, ["run", "message_id", "sender"], "left")
    )
    return known.selectExpr(
        "run", "message_id", "sender", "coalesce(reads, false) AS tellable", "sender_collected",
        "dsn_ref",
    )  # fmt: skip
