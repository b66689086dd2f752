"""From tables to judgements: every claim asked of every run, and the verdict that they reach.

Claims run side by side, since each is mostly waiting for the driver. A check that crashes makes its
claim unknown and leaves the others alone. One run, a night and a batch of a sweep are judged here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from spark_eval import verdict
from spark_eval.claims.claim import Claim, ClaimResult
from spark_eval.expected.copies import FAR_ABOVE
from spark_eval.judged import Judgement
from spark_eval.tables import Tables


def judge(
    tables: Tables, runs: Sequence[str], checks: Sequence[Claim], pool: Executor
) -> dict[str, Judgement]:
    """The judgement of each of `runs`; writes nothing."""
    checking = {check.name: pool.submit(check_claim, check, tables, runs) for check in checks}
    asking = pool.submit(_asked, tables)
    found = {name: job.result() for name, job in checking.items()}
    asked = asking.result()
    return {run: _judgement(run, found, asked[run]) for run in runs}


def check_claim(check: Claim, tables: Tables, runs: Sequence[str]) -> dict[str, ClaimResult]:
    """The claim's result for every run; whatever it raises becomes unknown, crashed."""
    try:
        found = check.check(tables)
    except Exception as error:
        return {run: check.crashed(error) for run in runs}
    return {run: found.get(run, check.nothing_asked()) for run in runs}


def _judgement(
    run: str, found: Mapping[str, Mapping[str, ClaimResult]], asked: verdict.Asked
) -> Judgement:
    results = {name: by_run[run] for name, by_run in found.items()}
    return Judgement(results, verdict.reach(results, asked))


def _asked(tables: Tables) -> dict[str, verdict.Asked]:
    """What each plan asks, with the evidence of its faults."""
    faults = tables.windows.groupBy("run").agg(
        F.expr("array_sort(collect_list(struct(fault, took_effect, reason))) AS faults")
    )
    known = tables.record.runs.join(faults, "run", "left")
    if tables.resubmission is not None:
        known = known.join(_operations(tables.resubmission.operations), "run", "left")
    return {row["run"]: _asked_of(row.asDict(), row["expect"]) for row in known.collect()}


def _operations(operations: DataFrame) -> DataFrame:
    return operations.groupBy("run").agg(
        F.expr("array_sort(collect_list(struct(operation, took_effect, reason))) AS operations")
    )


def _asked_of(row: Mapping[str, Any], expected: Row | None) -> verdict.Asked:
    expect = expected.asDict() if expected else {}
    operations = row.get("operations") or ()
    return verdict.Asked(
        proves=tuple(row["proves"] or ()),
        expects_loss=expect.get("lost") is not None or bool(expect.get("unprotected_loss")),
        expects_promotions=bool(expect.get("promotions")),
        faults={fault["fault"]: fault["took_effect"] for fault in row["faults"] or ()},
        operations={each["operation"]: each["took_effect"] for each in operations},
        expects_resubmissions=bool(expect.get("resubmissions")),
        unseen={fault["fault"]: fault["reason"] or "" for fault in row["faults"] or ()}
        | {each["operation"]: each["reason"] or "" for each in operations},
        too_coarse=_too_coarse(row),
        foretold=expect.get("verdict") or verdict.PASS,
    )


def _too_coarse(row: Mapping[str, Any]) -> str:
    resolution = row["resolution_ms"]
    if resolution is None:
        return "host.json states no clock resolution, so no duration can be judged"
    shortest = min(row["heartbeat_ms"], row["span_ms"])
    if shortest >= FAR_ABOVE * resolution:
        return ""
    return (
        f"the lab's clock resolves {resolution:g} ms, too coarse to judge a duration of "
        f"{shortest} ms: {FAR_ABOVE} times the resolution is needed"
    )
