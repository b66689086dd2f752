"""no_phantom: nothing is delivered that no one sent, and nothing to anyone it was not sent to.

A DSN is sent by the transport itself: it may reach the sender of the message that it is about.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.spark.joins import joined
from spark_eval.sql.reasons import sentence

KEY = ["run", "message_id", "recipient"]


def cases(tables: Tables) -> DataFrame:
    addressed = tables.sent.selectExpr(
        "run", "message_id", "explode(recipients) AS recipient", "ref AS sent_ref"
    )
    known = tables.sent.selectExpr("run", "message_id", "ref AS message_ref")
    torn = tables.record.damaged_lines.where("file = 'ledger.jsonl'").selectExpr(
        "run", "true AS ledger_torn"
    )
    seen = (
        tables.record.visible.join(addressed, KEY, "left")
        .join(known, ["run", "message_id"], "left")
        .join(_dsns(tables), KEY, "left")
        .join(torn.distinct(), "run", "left")
    )
    return seen.selectExpr(
        *case(
            status="CASE WHEN sent_ref IS NOT NULL OR about IS NOT NULL THEN 'holds' "
            "WHEN ledger_torn AND message_ref IS NULL THEN 'unknown' ELSE 'violated' END",
            subject="concat(message_id, ' to ', recipient)",
            detail=f"IF(message_ref IS NULL, {sentence('seen in {place}, sent by no one')}, "
            f"{sentence('seen in {place}, not sent to this recipient')})",
            at_ms="copied_ms",
            refs="ref, message_ref",
            requirements="array()",
        )
    )


def _dsns(tables: Tables) -> DataFrame:
    """DSNs about what the workload sent, to whoever sent it."""
    generated = tables.record.tracking.where("event = 'DSN'").selectExpr(
        "run",
        "message_id AS dsn",
        "concat('<', trim(BOTH '<> ' FROM reference), '>') AS message_id",
    )
    about = joined(
        generated, tables.sent.select("run", "message_id", "sender"), ["run", "message_id"]
    )
    return about.selectExpr(
        "run", "dsn AS message_id", "sender AS recipient", "message_id AS about"
    ).distinct()


CLAIM = Claim("no_phantom", (), cases)
