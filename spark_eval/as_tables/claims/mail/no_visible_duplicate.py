"""no_visible_duplicate: one copy in each mailbox (DD-1), but for what DD-4 names.

The submit time is the sender's: a copy that shows another one than its sender gave has another key,
which would hide no second copy. Copies with different submit times, or further apart than
`DuplicateDetectionWindow`, are visible duplicates by promise; where it is not known when one was
made, and the run was longer than the window, nothing is said of them. External recipients may get
two (SM-9): such copies must be explained by what happened to the message, else they are violations.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.resubmissions import RESUBMITTED
from spark_eval.as_tables.transforms.shadows import PROMOTED
from spark_eval.sql.reasons import sentence

REQUIREMENTS = """filter(array('DD-1', IF(copies > 1, 'DD-2', NULL), IF(promoted, 'SM-9', NULL),
  IF(accepted > 1, 'SR-7', NULL), IF(resubmitted, 'SN-15', NULL),
  IF(resubmitted, 'DD-3', NULL)), r -> r IS NOT NULL)"""
COPIES = "{copies} copies with one submit time in {place}"
REDATED = (
    "the submit time in {place} is {timestamp_millis(dated_ms)}, and its sender gave "
    "{timestamp_millis(given_ms)}"
)
GAPS = "transform(sequence(1, size(copied) - 1), i -> copied[i] - copied[i - 1])"


def cases(tables: Tables) -> DataFrame:
    told = _told(tables)
    return _mailboxes(tables, told).unionByName(_outside(tables, told))


def _told(tables: Tables) -> DataFrame:
    """What explains more copies than one: `promoted`, `accepted` (times), `tried_again`; and
    `resubmitted`, which explains none: nothing that left is resubmitted (SN-12).
    """
    rows = tables.record.tracking.groupBy("run", "message_id")
    told = rows.agg(
        F.expr(f"coalesce(bool_or({PROMOTED}), false) AS promoted"),
        F.expr(f"coalesce(bool_or({RESUBMITTED}), false) AS resubmitted"),
        F.expr("count_if(event = 'RECEIVE' AND source = 'SMTP') AS accepted"),
        F.expr("coalesce(bool_or(event IN ('DEFER', 'LOAD')), false) AS tried_again"),
    )
    if tables.crossings is None:
        return told
    # the next boundary receives what crosses, which is no second acceptance of its sender's
    crossed = tables.crossings.where("crossed").groupBy("run", "message_id")
    times = crossed.agg(F.count("*").alias("times"))
    return told.join(times, ["run", "message_id"], "left").withColumn(
        "accepted", F.expr("accepted - coalesce(times, 0L)")
    )


def _groups(copies: DataFrame, key: list[str]) -> DataFrame:
    return copies.groupBy(*key).agg(
        F.expr("CAST(count(*) AS INT) AS copies"),
        F.expr("array_sort(collect_list(copied_ms)) AS copied"),
        F.expr("slice(sort_array(collect_list(ref)), 1, 3) AS r"),
        F.min("place").alias("place"),
    )


def _mailboxes(tables: Tables, told: DataFrame) -> DataFrame:
    window = tables.record.databases.selectExpr("run", "`database` AS place", "window_ms")
    boxes = tables.record.visible.where("kind = 'mailbox'")
    same = _groups(boxes, ["run", "message_id", "recipient", "dated_ms"])
    ends = tables.record.runs.select("run", "end_ms")
    given = tables.sent.selectExpr("run", "message_id", "dated_ms AS given_ms", "ref AS given_ref")
    known = (
        same.join(told, ["run", "message_id"], "left")
        .join(window, ["run", "place"], "left")
        .join(ends, "run", "left")
        .join(given, ["run", "message_id"], "left")
    )
    apart = known.selectExpr(
        "*",
        "coalesce(dated_ms <> given_ms, false) AS redated",
        f"size(copied) = copies AND copies > 1 AND forall({GAPS}, g -> g > window_ms) AS far_apart",
        "size(copied) < copies AND end_ms > window_ms AS untimed",
    )
    return apart.selectExpr(
        *case(
            status="CASE WHEN redated THEN 'violated' WHEN copies = 1 OR far_apart THEN 'holds' "
            "WHEN untimed THEN 'unknown' ELSE 'violated' END",
            subject="concat(message_id, ' in ', recipient)",
            detail=f"IF(redated, {sentence(REDATED)}, {sentence(COPIES)})",
            at_ms="coalesce(try_element_at(copied, 2), get(copied, 0))",
            refs="try_element_at(r, 1), IF(redated, given_ref, try_element_at(r, 2)), "
            "try_element_at(r, 3)",
            requirements=REQUIREMENTS,
            weight="copies",
        )
    )


def _outside(tables: Tables, told: DataFrame) -> DataFrame:
    outside = tables.record.visible.where("kind = 'external'")
    twice = _groups(outside, ["run", "message_id", "recipient"]).where("copies > 1")
    known = twice.join(told, ["run", "message_id"], "left").selectExpr(
        "*", "coalesce(promoted OR tried_again OR accepted > 1, false) AS explained"
    )
    return known.selectExpr(
        *case(
            status="IF(explained, 'holds', 'violated')",
            subject="concat(message_id, ' at ', recipient)",
            detail=sentence("{copies} copies at {place}, and nothing explains them"),
            at_ms="get(copied, 1)",
            refs="try_element_at(r, 1), try_element_at(r, 2), try_element_at(r, 3)",
            requirements="array('SM-9')",
            weight="copies",
        )
    )


CLAIM = Claim("no_visible_duplicate", ("DD-1", "DD-2", "SM-9", "SR-7", "SN-15", "DD-3"), cases)
