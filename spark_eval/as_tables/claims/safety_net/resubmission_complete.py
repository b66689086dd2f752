"""resubmission_complete: what a failover lost, or may have lost, comes back from every Safety Net
that has it (SN-4, SN-6 to SN-8).

Asks every primary of every transition whether it was asked to, and every copy that surely lies in
the interval, or was lost with the copy of the database that was left. `expected.resubmission`
derives both; Active Manager's word that all was asked counts for nothing.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.resubmission import Resubmission
from spark_eval.as_tables.expected.tables import Tables

AWAY = "exists(outages, o -> o.lo <= coalesce(learnt.at_ms, end_ms) AND o.hi >= mounted.at_ms)"


def cases(tables: Tables) -> DataFrame:
    known = tables.resubmission
    assert known is not None
    return _asked(known).unionByName(_copies(known))


def may_ask(tables: Tables) -> bool:
    return tables.resubmission is not None


def _asked(known: Resubmission) -> DataFrame:
    return known.asked.selectExpr(
        *case(
            status="j.status",
            subject="concat(`database`, ':', epoch, ' at ', server)",
            detail="j.reason",
            at_ms="coalesce(learnt.at_ms, mounted.at_ms)",
            refs="mounted.ref, learnt.ref, request.ref",
            requirements=f"filter(array('SN-4', 'SN-6', 'TP-6', IF({AWAY}, 'SN-7', NULL)), "
            "r -> r IS NOT NULL)",
            weight="1e6",
        )
    )


def _copies(known: Resubmission) -> DataFrame:
    return known.expected.selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="brought_ms",
            refs="brought_ref, mounted.ref, learnt.ref, coalesce(given.ref, stood_in.ref)",
            requirements="array('SN-4', 'SN-8')",
            weight="IF(lost, IF(seen, 1e9, 1e12), 0) + end_ms - brought_ms",
        )
    )


CLAIM = Claim("resubmission_complete", ("SN-4", "SN-6", "SN-7", "SN-8", "TP-6"), cases, may_ask)
