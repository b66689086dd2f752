"""The protocol of a claim: rows that were asked, each holding, violated or unknown, become a
result.

A claim names its requirements and makes `cases`; everything else is the same for all of them and is
here. A claim with nothing to ask is unknown, never holds; where the plan needs no answer of it, the
verdict makes that "not applicable". Refuses to look at anything but its cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from spark_eval.as_tables.expected.tables import Tables
from spark_eval.next.cases.case import HOLDS, UNKNOWN, VIOLATED
from spark_eval.next.judging.results import ClaimResult, CounterExample, Status
from spark_eval.sql.intervals import FOREVER_MS

SHOWN = ("subject", "at_ms", "detail", "refs", "weight", "expected")
TOLD = "concat(shown.subject, ': ', shown.detail)"
TIMED_REASON = f"struct(coalesce(shown.at_ms, {FOREVER_MS}) AS t, {TOLD} AS reason)"
SURPRISE = f"IF(shown.expected, {TOLD}, NULL)"


@dataclass(frozen=True, slots=True)
class Claim:
    """`cases(tables)` returns one row a case, as `case()` shapes it. Of runs that cannot hold any,
    by their plans, `may_ask` says so, and no Spark job is spent on them.
    """

    name: str
    requirements: tuple[str, ...]
    cases: Callable[[Tables], DataFrame]
    may_ask: Callable[[Tables], bool] = lambda tables: True

    def asked(self, tables: Tables) -> DataFrame | None:
        """Its cases, under its name; none where the plans hold none."""
        if not self.may_ask(tables):
            return None
        return self.cases(tables).withColumn("claim", F.lit(self.name))

    def check(self, tables: Tables) -> dict[str, ClaimResult]:
        """One result for each run that had a case, in one Spark action."""
        asked = self.asked(tables)
        rows = summarise(asked).collect() if asked is not None else []
        return {row["run"]: self.result(row) for row in rows}

    def nothing_asked(self) -> ClaimResult:
        return ClaimResult(self.name, self.requirements, UNKNOWN)

    def crashed(self, error: Exception) -> ClaimResult:
        said = str(error).strip().splitlines()
        reason = f"the check crashed: {type(error).__name__}: {said[0] if said else ''}"
        return ClaimResult(self.name, self.requirements, UNKNOWN, reason=reason, crashed=True)

    def result(self, row: Row) -> ClaimResult:
        """Of a row of `summarise`."""
        status: Status = VIOLATED if row["violations"] else UNKNOWN if row["unknown"] else HOLDS
        return ClaimResult(
            name=self.name,
            requirements=self.requirements,
            status=status,
            asked=row["asked"],
            violations=row["violations"],
            unknown=row["unknown"],
            reason=row["reason"] or "",
            examples=_examples(row),
            proofs=_proofs(row["told"]),
            surprises=tuple(row["surprises"]),
        )


def case(
    status: str,
    subject: str,
    detail: str,
    at_ms: str,
    refs: str,
    requirements: str,
    weight: str = "0",
    expected: str = "false",
) -> list[str]:
    """The columns of a case, from SQL. `refs` lists structs, nulls allowed; `weight` ranks the
    worst; `expected` where the case is what `expect` says.
    """
    return [
        "run",
        f"{status} AS status",
        f"coalesce({subject}, '?') AS subject",
        f"{detail} AS detail",
        f"CAST({at_ms} AS BIGINT) AS at_ms",
        f"filter(array({refs}), r -> r IS NOT NULL) AS refs",
        f"CAST({requirements} AS ARRAY<STRING>) AS requirements",
        f"CAST({weight} AS DOUBLE) AS weight",
        f"{expected} AS expected",
    ]


def summarise(cases: DataFrame) -> DataFrame:
    """One row a claim and run: counts, one reason for not knowing, first, worst and last
    counter-example.
    """
    return (
        _alike(cases)
        .groupBy("claim", "run")
        .agg(
            F.sum("times").alias("asked"),
            F.expr("sum(IF(status = 'violated', times, 0L)) AS violations"),
            F.expr("sum(IF(status = 'unknown', times, 0L)) AS unknown"),
            F.expr(f"min({TIMED_REASON}) FILTER (WHERE status = 'unknown').reason AS reason"),
            _example("min_by", "coalesce(shown.at_ms, -1L)", "first"),
            _example("max_by", "coalesce(shown.weight, 0.0)", "worst"),
            _example("max_by", "coalesce(shown.at_ms, -1L)", "last"),
            F.expr("collect_set(struct(requirements, status)) AS told"),
            F.expr(f"array_sort(collect_set({SURPRISE})) AS surprises"),
        )
    )


def _alike(cases: DataFrame) -> DataFrame:
    """Cases of a claim and run that say the same, `times` each; of those that hold nothing is
    `shown`, so nearly all of them come together here, where counting costs least.
    """
    return (
        cases.where("status IS NOT NULL")
        .withColumn("shown", F.when(F.col("status") != HOLDS, F.struct(*SHOWN)))
        .groupBy("claim", "run", "status", "requirements", "shown")
        .agg(F.count("*").alias("times"))
    )


def _example(pick: str, order: str, name: str) -> Column:
    shown = "struct(shown.subject, shown.at_ms, shown.detail, slice(shown.refs, 1, 4) AS refs)"
    # every value of the row decides between two that are level, so that one record has one answer
    placed = f"struct({order}, shown.subject, shown.detail, shown.refs)"
    return F.expr(f"{pick}({shown}, {placed}) FILTER (WHERE status = 'violated') AS {name}")


def _examples(row: Row) -> tuple[CounterExample, ...]:
    found: list[CounterExample] = []
    for which in ("first", "worst", "last"):
        if row[which] is not None:
            example = _counter_example(which, row[which])
            if all(example.subject != e.subject or example.refs != e.refs for e in found):
                found.append(example)
    return tuple(found)


def _counter_example(which: str, shown: Row) -> CounterExample:
    refs = tuple((ref["file"], ref["line"]) for ref in shown["refs"])
    return CounterExample(which, shown["subject"], shown["at_ms"], shown["detail"], refs)


def _proofs(told: list[Row]) -> dict[str, str]:
    worst = (HOLDS, UNKNOWN, VIOLATED)
    proofs: dict[str, str] = {}
    for row in told:
        for requirement in row["requirements"]:
            known = proofs.get(requirement, HOLDS)
            proofs[requirement] = max(known, row["status"], key=worst.index)
    return proofs
