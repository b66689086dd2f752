"""Who sent what, and whether they can be told of it here."""

from __future__ import annotations

from pyspark.sql import DataFrame


def senders(sent: DataFrame, mailboxes: DataFrame, servers: DataFrame) -> DataFrame:
    """`run`, `message_id`, `sender`, `tellable`: the sender has a mailbox here, or a server that
    stands for its domain. `tellable` is false for the null sender (RFC 5321 section 6.1).
    """
    boxes = mailboxes.selectExpr("run", "mailbox AS sender", "true AS box").distinct()
    outside = servers.where("role = 'external'").selectExpr(
        "run", "lower(domain) AS domain", "true AS outside"
    )
    named = sent.selectExpr(
        "run", "message_id", "sender", "substring_index(sender, '@', -1) AS domain"
    )
    known = named.join(boxes, ["run", "sender"], "left").join(
        outside.distinct(), ["run", "domain"], "left"
    )
    return known.selectExpr(
        "run", "message_id", "sender", "box IS NOT NULL OR outside IS NOT NULL AS tellable"
    )
