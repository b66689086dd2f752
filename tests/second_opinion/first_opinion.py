"""What the evaluation itself says: every case of the four claims, of all runs of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench.second_opinion.opinion import Case
from spark_eval import schema
from spark_eval.claims.mail import no_loss, no_visible_duplicate
from spark_eval.claims.shadow import promotion_on_time, redundant_before_ack
from spark_eval.expected.tables import Tables
from spark_eval.read.lines_table import LinesTable
from spark_eval.read.record import Record
from spark_eval.session import OF_A_SWEEP
from spark_eval.spark.released import released

CODEGEN = ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")
ORIGIN_MS = 1_767_600_000_000  # 2026-01-05T08:00:00Z, where the lab time of every plan starts
CLAIMS = {
    module.CLAIM.name: module.CLAIM
    for module in (no_loss, no_visible_duplicate, redundant_before_ack, promotion_on_time)
}


def cases_by_claim(spark: SparkSession, lines: Path) -> dict[str, Counter[Case]]:
    """How often each case was asked, by claim; `lines` is a Parquet file of a sweep's lines."""
    with compiled(spark):
        return _cases(spark, lines)


@contextmanager
def compiled(spark: SparkSession) -> Iterator[None]:
    """So many rows are worth code of their own, as in a sweep."""
    before = {name: str(spark.conf.get(name)) for name in CODEGEN}
    try:
        for name in CODEGEN:
            spark.conf.set(name, OF_A_SWEEP[name])
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def _cases(spark: SparkSession, lines: Path) -> dict[str, Counter[Case]]:
    rows = spark.read.schema(schema.ddl(schema.SWEEP_LINES)).parquet(str(lines))
    with released(spark):
        tables = Tables(Record(LinesTable(rows, ORIGIN_MS, 2)))
        return {name: _counted(claim.cases(tables)) for name, claim in CLAIMS.items()}


def _counted(cases: DataFrame) -> Counter[Case]:
    asked = cases.where("status IS NOT NULL").select("run", "subject", "status")
    return Counter(Case(*row) for row in asked.collect())
