"""DSNs as servers log them: a DSN is a message of its own, and names the one that it is about."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.read.names import message_id
from spark_eval.spark.joins import joined

# what a DSN says of a recipient (RFC 3464 section 2.3.3)
SAYS_FAILED, SAYS_DELAYED = "failed", "delayed"
FAILED, OF_DELAY = "NOT is_of_delay", "is_of_delay"


def dsns(tracking: DataFrame) -> DataFrame:
    """One row a DSN: `message_id` is what it is about, `report` its own Message-Id, `report_id` its
    internal id at `server`; `at_ms`, `ref`. `is_of_delay`: it says that something is late, and not
    that it failed.
    """
    return tracking.where("event = 'DSN'").selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id AS report_id",
        "message_id AS report", f"{message_id('reference')} AS message_id", "at_ms", "ref",
        "context <=> 'delayed' AS is_of_delay",
    )  # fmt: skip


def notified(dsns: DataFrame, visible: DataFrame, action: str) -> DataFrame:
    """`run`, `message_id`, `sender`, `dsn_ref`: who sees a DSN about which message, and where;
    `dsns_seen`, how many; `named`, of whom they say `action`, null where the record does not have
    what they say.
    """
    says = f"r -> r.action = '{action}' AND r.recipient IS NOT NULL"
    seen = visible.selectExpr(
        "run", "message_id AS report", "recipient AS sender", "ref AS seen",
        f"transform(filter(reports, {says}), r -> lower(r.recipient)) AS says",
    )  # fmt: skip
    found = joined(dsns, seen, ["run", "report"])
    named = "IF(bool_or(says IS NOT NULL), array_distinct(flatten(collect_list(says))), NULL)"
    return found.groupBy("run", "message_id", "sender").agg(
        F.min("seen").alias("dsn_ref"),
        F.size(F.collect_set("report")).alias("dsns_seen"),
        F.expr(named).alias("named"),
    )
