"""no_loss: what was acknowledged is once visible to everyone it was promised to, or excused with a
reason.

Excused is what SM-15 names: every custodian lost its queue database, or the only one there was
after an acceptance without a shadow (SR-5); and what a server gave up when its sender sees the DSN
(SM-12), or when the DSN was given up as well and a fault was in its way. `expect.unprotected_loss`
bounds how many messages may be excused, none where it says nothing; `expect.lost` says how many are
lost, each of which is a violation all the same.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.sql.reasons import sentence

OPEN = "unknown"
STATUS = "CASE outcome WHEN 'lost' THEN 'violated' WHEN 'unknown' THEN 'unknown' ELSE 'holds' END"
KILLED_AFTER = "exists(kills, k -> k.kind = 'kill' AND k.certain.lo >= acknowledged_ms)"
REQUIREMENTS = f"""filter(array(IF(outcome IN ('excused', 'lost'), 'SM-15', NULL),
  IF({KILLED_AFTER}, 'TL-7', NULL)), r -> r IS NOT NULL)"""


def cases(tables: Tables) -> DataFrame:
    promised = tables.deliveries.where("promised").join(
        tables.histories.select("run", "server", "kills"), ["run", "server"], "left"
    )
    judged = promised.selectExpr("*", "slice(refs, 1, 3) AS r").selectExpr(
        *case(
            status=STATUS,
            subject="concat(message_id, ' to ', recipient)",
            detail="reason",
            at_ms="acknowledged_ms",
            refs="try_element_at(r, 1), try_element_at(r, 2)",
            requirements=REQUIREMENTS,
        )
    )
    return judged.unionByName(_expected(tables))


def _expected(tables: Tables) -> DataFrame:
    """How many messages were lost, where `expect.lost` says it, and how many were excused. Of one
    whose fate is unknown, either is possible. No mail, no case.
    """
    of_message = tables.deliveries.groupBy("run", "message_id").agg(
        F.expr("bool_or(promised) AS promised"),
        *(F.expr(f"bool_or(outcome = '{each}') AS {each}") for each in ("lost", "excused", OPEN)),
    )
    fates = of_message.groupBy("run").agg(
        F.expr("count_if(promised) AS promised"),
        F.expr("count_if(lost) AS lost"),
        F.expr("count_if(excused) AS excused"),
        F.expr(f"count_if({OPEN} AND NOT lost) AS may_be_lost"),
        F.expr(f"count_if({OPEN} AND NOT excused) AS may_be_excused"),
    )
    known = tables.record.runs.select("run", "expect", "end_ms").join(fates, "run", "left")
    keys = f"inline(filter(array({_LOST}, {_EXCUSED}), k -> k.asked))"
    return known.selectExpr("run", "end_ms", keys).selectExpr(
        *case(
            status=_AS_FORETOLD,
            subject="concat('expect.', key)",
            detail=sentence(
                "{found} messages are {fate}, not {low}{IF(high > low, concat(' to ', high), '')}"
            ),
            at_ms="end_ms",
            refs="CAST(NULL AS struct<file: string, line: int>)",
            requirements="IF(fate = 'excused' AND found > 0, array('SM-15'), array())",
            expected="true",
        )
    )


def _key(key: str, fate: str, low: str, high: str, asked: str) -> str:
    """What `expect` says of a fate: `found` surely met it, `open` more may have."""
    return (
        f"named_struct('key', '{key}', 'fate', '{fate}', 'low', {low}, 'high', {high}, "
        f"'found', coalesce({fate}, 0L), 'open', coalesce(may_be_{fate}, 0L), 'asked', {asked})"
    )


_LOST = _key(
    "lost",
    "lost",
    "expect.lost",
    "expect.lost",
    # where a pass is expected, what is lost says by itself that it was to be none
    "expect.lost > 0 OR expect.lost = 0 AND lost > 0 AND expect.verdict <> 'pass'",
)
_PERMITTED = "coalesce(expect.unprotected_loss, array(0, 0))"
_EXCUSED = _key(
    "unprotected_loss",
    "excused",
    f"{_PERMITTED}[0]",
    f"{_PERMITTED}[1]",
    "excused > 0 OR expect.unprotected_loss[0] > 0 "
    "OR expect.unprotected_loss IS NOT NULL AND promised > 0",
)
_AS_FORETOLD = """CASE WHEN found > high OR found + open < low THEN 'violated'
  WHEN found < low OR found + open > high THEN 'unknown' ELSE 'holds' END"""

CLAIM = Claim("no_loss", ("SM-15", "TL-7"), cases)
