"""discard_after_delivery: no shadow is let go before every fork is done, and each is in time after.

Three questions to each shadow: the order (SM-1, SM-4, SM-10), the deadline of one heartbeat once
both servers can be reached (SM-2 to SM-5, SM-16), and whether the time of delivery that it was let
go with is right (SN-2). `expected.discard` derives them. Four to each
pair of servers, which `expected.questions` derives: whether the shadow server asked in every
session (SM-2), was notified of its own messages alone (SM-3), logged the answers by which it let
them go (TL-4), and logged what failed (SM-18).
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

RESTARTS = (
    "transform(filter(primary_kills, k -> k.kind IN ('kill', 'stop', 'restart')), k -> k.possible)"
)
ENDED = "coalesce(discard.at_ms, end_ms)"
DEADLINE_REQUIREMENTS = f"""filter(array('SM-2', 'SM-3', 'SM-4', 'SM-19',
  IF({overlaps(RESTARTS, "done_ms", ENDED)}, 'SM-5', NULL),
  IF(deadline_status = 'violated' AND untold_ms IS NOT NULL, 'SM-11', NULL),
  IF({overlaps("any_possible", "done_ms", ENDED)}, 'SM-16', NULL)), r -> r IS NOT NULL)"""


def cases(tables: Tables) -> DataFrame:
    return (
        _order(tables.discards)
        .unionByName(_told(tables.discards))
        .unionByName(_deadline(tables.discards))
        .unionByName(_of_pairs(tables.questions))
    )


def _order(discards: DataFrame) -> DataFrame:
    return discards.selectExpr(
        *case(
            status="order_status",
            subject="message_id",
            detail="order_reason",
            at_ms="discard.at_ms",
            refs="discard.ref, done_ref, held.ref",
            requirements="array('SM-1', 'SM-4', 'SM-10')",
            weight="coalesce(done_ms - discard.at_ms, 1e15)",
        )
    )


def _told(discards: DataFrame) -> DataFrame:
    return discards.selectExpr(
        *case(
            status="told_status",
            subject="message_id",
            detail="told_reason",
            at_ms="discard.at_ms",
            refs="discard.ref, done_ref",
            requirements="array('SN-2')",
            weight="abs(delivered_at_ms - done_ms)",
        )
    )


def _deadline(discards: DataFrame) -> DataFrame:
    return discards.selectExpr(
        *case(
            status="deadline_status",
            subject="message_id",
            detail="deadline_reason",
            at_ms=ENDED,
            refs="coalesce(held.ref, claimed.ref), done_ref, discard.ref",
            requirements=DEADLINE_REQUIREMENTS,
            weight=f"IF(discard IS NULL, 1e12, 0) + {ENDED} - reachable_ms",
        )
    )


def _of_pairs(questions: DataFrame) -> DataFrame:
    return questions.selectExpr(
        "*", f"inline(filter(array({', '.join(PAIRS)}), p -> p.j.status IS NOT NULL))"
    ).selectExpr(
        *case(
            status="j.status",
            subject="concat(server, ' and ', primary_server)",
            detail="j.reason",
            at_ms="row.at_ms",
            refs="row.ref",
            requirements="array(requirement)",
            weight="times",
        )
    )


def _pair(requirement: str, times: str, asked: str, row: str, reason: str) -> str:
    judged = cases_of(
        (f"{times} > 0", violated(reason)), (f"{asked} > 0", holds()), otherwise=not_asked()
    )
    return (
        f"named_struct('requirement', '{requirement}', 'times', CAST({times} AS BIGINT), "
        f"'row', {row}, 'j', {judged})"
    )


UNNAMED = "greatest(let_go - coalesce(named, 0L), 0L)"
UNLOGGED = "greatest(failed - kills - coalesce(logged, 0L), 0L)"
PAIRS = (
    _pair(
        "SM-2", "unasked", "asked", "first_unasked",
        "{server} used {unasked} sessions to {primary_server} without a question, while it held "
        "shadow messages of it",
    ),
    _pair(
        "SM-3", "too_many", "told", "struct(most.at_ms AS at_ms, most.ref AS ref)",
        "{primary_server} told {server} of {most.notifications} messages at once, and {most.open} "
        "at most were its own; {too_many} times in all",
    ),
    _pair(
        "TL-4", UNNAMED, "let_go", "first_let_go",
        "{server} let {let_go} shadow messages of {primary_server} go, and by its connectivity log "
        "{coalesce(named, 0L)} discard notifications came",
    ),
    _pair(
        "SM-18", UNLOGGED, "failed",
        "CAST(NULL AS struct<at_ms: bigint, ref: struct<file: string, line: int>>)",
        "{failed} heartbeats of {server} to {primary_server} failed, and {coalesce(logged, 0L)} "
        "times event 22004 says so",
    ),
)  # fmt: skip

CLAIM = Claim(
    "discard_after_delivery",
    (
        "SM-1",
        "SM-2",
        "SM-3",
        "SM-4",
        "SM-5",
        "SM-10",
        "SM-11",
        "SM-16",
        "SM-18",
        "SM-19",
        "SN-2",
        "TL-4",
    ),
    cases,
)
