"""resubmission_bounded: nothing comes back but what a failover calls for (SN-4, SN-8, SN-12).

Asks every copy that came back whether it belongs to a failover's database and interval, is for
mailboxes of that database alone, and came once for one request; every copy that left the boundary
in an interval asked for whether it stayed away; every request whether it belongs to a failover of a
database of that boundary; and every switchover that lost nothing whether nobody was asked.
`expect.resubmissions` narrows: each entry must have happened, and nothing else.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.safety_net.resubmission_complete import may_ask
from spark_eval.as_tables.expected.resubmission import Resubmission
from spark_eval.as_tables.expected.resubmitted_copies import LOSSLESS, NAMED
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.failovers import CHANGE
from spark_eval.spark.joins import joined
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, sentence, unknown, violated

NO_REF = "CAST(NULL AS struct<file: string, line: int>)"


def cases(tables: Tables) -> DataFrame:
    known = tables.resubmission
    assert known is not None
    return (
        _came_back(known)
        .unionByName(_left(known))
        .unionByName(_requests(known))
        .unionByName(_lossless(known))
        .unionByName(_expected(known.given, tables))
    )


def _came_back(known: Resubmission) -> DataFrame:
    return known.came.selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="rows[0].at_ms",
            refs="rows[0].ref, get(rows, 1).ref",
            requirements="IF(size(strangers) > 0 OR at_home IS NULL, array('SN-8', 'SN-12'), "
            "array('SN-8'))",
            weight="times",
        )
    )


def _left(known: Resubmission) -> DataFrame:
    """What went to an external server, or to another boundary, is not resubmitted."""
    return known.left.selectExpr(
        *case(
            status="IF(again IS NULL, 'holds', 'violated')",
            subject="message_id",
            detail=sentence(
                "{server} sent it to {array_join(peers, ' and ')}, outside its boundary, and "
                "resubmitted it for {again.request_id}"
            ),
            at_ms="coalesce(again.at_ms, first.at_ms)",
            refs="first.ref, again.ref",
            requirements="array('SN-12')",
        )
    )


_OF_REQUEST = cases_of(
    ("asked_database IS NOT NULL AND at_home IS NULL", violated(
        f"{NAMED} asks a server outside the boundary of {{asked_database}}")),
    ("known_epoch IS NULL AND told_epoch IS NOT NULL", unknown(
        f"{NAMED} belongs to a failover of which only Active Manager tells")),
    ("known_epoch IS NULL", violated(f"{NAMED} belongs to no failover")),
    (LOSSLESS, violated(f"{NAMED} follows a switchover that lost nothing")),
    otherwise=holds(),
)  # fmt: skip


def _requests(known: Resubmission) -> DataFrame:
    of_change = known.transitions.selectExpr(
        "run", "`database` AS asked_database", "epoch AS asked_epoch", "epoch AS known_epoch",
        "is_orderly", "lost_ms", "mounted",
    )  # fmt: skip
    beside = known.requests.join(of_change, ["run", "asked_database", "asked_epoch"], "left").join(
        known.told, ["run", "asked_database", "asked_epoch"], "left"
    )
    return beside.selectExpr("*", f"{_OF_REQUEST} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(request_id, ' at ', server)",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref, mounted.ref",
            requirements="IF(at_home IS NULL, array('SN-4', 'SN-12'), array('SN-4'))",
        )
    )


def _lossless(known: Resubmission) -> DataFrame:
    """Nobody is asked after a switchover that lost nothing: a case that holds."""
    asked = known.requests.selectExpr(
        "run", "asked_database AS `database`", "asked_epoch AS epoch", "struct(at_ms, ref) AS row"
    )
    first = asked.groupBy(*CHANGE).agg(F.min("row").alias("request"))
    orderly = known.transitions.where(LOSSLESS).join(first, CHANGE, "left")
    return orderly.selectExpr(
        *case(
            status="IF(request IS NULL, 'holds', 'violated')",
            subject="concat(`database`, ':', epoch)",
            detail=sentence("a Safety Net was asked after a switchover to {to} that lost nothing"),
            at_ms="mounted.at_ms",
            refs="mounted.ref, request.ref",
            requirements="array('SN-4')",
        )
    )


def _expected(given: DataFrame, tables: Tables) -> DataFrame:
    """Each entry happened, and what no entry names did not."""
    narrowed = tables.record.runs.where("expect.resubmissions IS NOT NULL").select("run")
    entries = tables.record.expected_resubmissions.selectExpr("*", "true AS named")
    seen = (
        given.selectExpr("run", "destination AS `database`", "safety_net", "at_ms", "ref")
        .groupBy("run", "database", "safety_net")
        .agg(F.count("*").alias("came"), F.expr("min(struct(at_ms, ref)) AS row"))
    )
    both = joined(entries, seen, ["run", "database", "safety_net"], "full").transform(
        joined, narrowed, "run"
    )
    none = narrowed.join(both.select("run"), "run", "left_anti").selectExpr(
        "run", "CAST(NULL AS STRING) AS `database`", "CAST(NULL AS STRING) AS safety_net",
        "true AS named", "0L AS came", "CAST(NULL AS STRUCT<at_ms: BIGINT, ref: STRUCT<file: "
        "STRING, line: INT>>) AS row",
    )  # fmt: skip
    said = both.unionByName(none, allowMissingColumns=True)
    return said.selectExpr(
        *case(
            status="IF((`database` IS NULL) OR (coalesce(named, false) AND came > 0), 'holds', "
            "'violated')",
            subject="concat_ws(' ', 'expect.resubmissions', `database`, safety_net)",
            detail=sentence(
                "{coalesce(came, 0L)} resubmissions to {`database`} from {safety_net} Safety Nets, "
                "{IF(named, 'at least one is expected', 'and no entry names them')}"
            ),
            at_ms="coalesce(row.at_ms, 0L)",
            refs=f"coalesce(row.ref, {NO_REF})",
            requirements="array()",
            expected="true",
        )
    )


CLAIM = Claim("resubmission_bounded", ("SN-4", "SN-8", "SN-12"), cases, may_ask)
