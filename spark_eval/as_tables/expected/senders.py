"""Who sent what, whether they can be notified of it here, and whether they were."""

from __future__ import annotations

from pyspark.sql import DataFrame


def senders(
    sent: DataFrame, places: DataFrame, notified: DataFrame, given_up: DataFrame
) -> DataFrame:
    """One row a message: its `sender`; `tellable`, whether the sender reads mail here, which the
    null sender never does (RFC 5321 section 6.1); `sender_collected`, whether the record of that is
    there; `dsn_ref`, `dsns_seen`, `named`: DSNs of a failure that the sender sees, as in
    `transforms.dsns.notified`; `dsn_given_up_ref`, as in `expected.dsns_given_up`.
    """
    reads = places.selectExpr(
        "run", "recipient AS sender", "true AS reads",
        "coalesce(collected, false) AS sender_collected",
    )  # fmt: skip
    known = (
        sent.select("run", "message_id", "sender")
        .join(reads, ["run", "sender"], "left")
        .join(notified, ["run", "message_id", "sender"], "left")
        .join(given_up, ["run", "message_id", "sender"], "left")
    )
    return known.selectExpr(
        "run", "message_id", "sender", "coalesce(reads, false) AS tellable", "sender_collected",
        "dsn_ref", "dsns_seen", "named", "dsn_given_up_ref",
    )  # fmt: skip
