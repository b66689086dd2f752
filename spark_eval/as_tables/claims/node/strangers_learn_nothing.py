"""strangers_learn_nothing: without the right nobody uses a verb of the organisation (TL-6) or holds
a session for ever (SR-6); nor is a shadow verb offered to anybody where shadow redundancy is off
(SR-9).

Asks every reply that a stranger of the plan heard: to a verb of the organisation it is `550 5.7.1`
and names no message, and EHLO offers no such verb to who showed no server's certificate. A stranger
with a certificate of another authority is closed out, or hears the same. With
`ShadowRedundancyEnabled` false EHLO offers none to who showed a server's certificate either. Asks
every session that trickles whether it was over by `ConnectionTimeout`, and what it takes a server
and the record to notice. A server that ends a session for reasons of its own (421), or is in
trouble, is not asked.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected import calls
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.read.record import Record
from spark_eval.spark.joins import joined, small
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, unknown, violated

WHO = ["run", "stranger"]
REFUSED = "reply RLIKE '^550 5[.]7[.]1( |$)'"
NAMES_A_MESSAGE = "reply RLIKE '<[^<> ]+@[^<> ]+>|InternalId=|DatabaseId='"
OFFERS = "reply RLIKE '(^| )X[A-Z]+( |$)'"
IS_VERB = "command RLIKE '^X[A-Z]+( |$)'"

OF_A_SERVER = "command = 'EHLO' AND kind = 'other-server'"

_REPLIED = cases_of(
    (f"{OF_A_SERVER} AND enabled", not_asked()),
    (f"{OF_A_SERVER} AND {OFFERS}", violated(
        "{server} offers a shadow verb, and ShadowRedundancyEnabled is false: {reply}")),
    (f"command = 'EHLO' AND {OFFERS}", violated(
        "{server} offers a verb of the organisation: {reply}")),
    ("command = 'EHLO'", holds()),
    (f"NOT ({IS_VERB}) OR reply RLIKE '^421 '", not_asked()),
    ("reply RLIKE '^[23]'", violated("{server} accepts it: {reply}")),
    (f"NOT ({REFUSED})", violated("{server} says more than that it may not: {reply}")),
    (NAMES_A_MESSAGE, violated("{server} names a message or a database: {reply}")),
    otherwise=holds(),
)  # fmt: skip

_ENDED = cases_of(
    ("NOT is_told", unknown("the record says nothing of {stranger} ({kind})")),
    ("is_troubled OR kind NOT IN ('trickles', 'foreign-certificate')", not_asked()),
    ("over IS NULL", unknown("the record does not say how the session of {stranger} ended")),
    ("kind = 'foreign-certificate' AND over.outcome = 'closed'", holds()),
    ("kind = 'foreign-certificate' OR began IS NULL", not_asked()),
    ("over.at_ms - began.at_ms > limit_ms", violated(
        "after {over.sent_bytes} bytes its session at {server} is still open at {@over.at_ms}; "
        "ConnectionTimeout was over at {@began.at_ms + session_ms}")),
    ("over.sent_bytes > 0 AND over.outcome IN ('closed', 'refused')", holds()),
    otherwise=not_asked(),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    record = tables.record
    return _replies(record).unionByName(_sessions(tables))


def _replies(record: Record) -> DataFrame:
    """Each reply to EHLO and to a verb."""
    replies = record.stranger_record.where("type = 'reply'").drop("server")
    known = joined(replies, small(record.strangers), WHO).transform(
        joined, small(record.runs.select("run", "enabled")), "run"
    )
    judged = known.selectExpr("*", f"{_REPLIED} AS j")
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="concat(split(command, ' ')[0], ' of ', stranger, ' (', kind, ')')",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref",
            requirements=f"IF({OF_A_SERVER}, array('SR-9'), array('TL-6'))",
        )
    )


def _sessions(tables: Tables) -> DataFrame:
    """Each stranger of the plan, with the beginning and the end of its session."""
    record = tables.record
    seen = record.stranger_record.groupBy(*WHO).agg(
        F.expr("min(struct(at_ms, ref)) FILTER (WHERE command = 'banner') AS began"),
        F.expr(
            "max(struct(at_ms, outcome, coalesce(sent_bytes, 0L) AS sent_bytes, ref)) "
            "FILTER (WHERE type = 'end') AS over"
        ),
        F.expr("true AS is_told"),
    )
    known = (
        record.strangers.join(seen, WHO, "left")
        .join(small(calls.limits(record.servers, record.runs)), ["run", "server"], "left")
        .join(calls.troubles(tables.troubles), ["run", "server"], "left")
    )
    placed = known.selectExpr(
        "run", "stranger", "kind", "server", "began", "over", "session_ms",
        "coalesce(is_told, false) AS is_told", "limit_ms",
        f"{calls.troubled('coalesce(began.at_ms, over.at_ms)', 'over.at_ms')} AS is_troubled",
    )  # fmt: skip
    return placed.selectExpr("*", f"{_ENDED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(stranger, ' (', kind, ')')",
            detail="j.reason",
            at_ms="over.at_ms",
            refs="began.ref, over.ref",
            requirements="IF(kind = 'trickles', array('SR-6'), array('TL-6'))",
            weight="over.at_ms - began.at_ms",
        )
    )


CLAIM = Claim(
    "strangers_learn_nothing",
    ("TL-6", "SR-6", "SR-9"),
    cases,
    lambda tables: tables.scope.has_strangers,
)
