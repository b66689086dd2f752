"""A run that is too much for one task, judged as tables: Spark reads, derives, judges and writes.

Claims are judged while tables are written, each by its own thread of the driver; what they need in
common is made once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from spark_eval.as_tables import claims
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.judging.judge import judge
from spark_eval.judging.judged import JudgedRun
from spark_eval.next.results.counts import NO_DELIVERY, NO_PROMOTION, NO_SAFETY_NET
from spark_eval.read.damage import log_damage
from spark_eval.read.record import Record
from spark_eval.read.run_folder import RunFolder
from spark_eval.read.source import Folders
from spark_eval.report.build import build
from spark_eval.report.render import length_ms
from spark_eval.report.rows import ReportRows
from spark_eval.results import counts
from spark_eval.results import tables as results
from spark_eval.spark.checkpoints import checkpoints_below
from spark_eval.spark.released import released
from spark_eval.sql.collected import Rows, collected


class SparkRows:
    """Rows of a table as the driver goes through them, a part at a time."""

    def __init__(self, table: DataFrame) -> None:
        self._table = table

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (row.asDict(recursive=True) for row in self._table.toLocalIterator())


def judged_as_tables(spark: SparkSession, folder: RunFolder) -> tuple[JudgedRun, ReportRows]:
    """Its tables are written; the page's rows lack their stories."""
    with released(spark), checkpoints_below(spark, folder.place(folder.evaluation)):
        tables = Tables(Record(Folders(spark, [folder])), folder.scope)
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(_write_tables, tables, folder)
            telling = pool.submit(_told, tables)
            judgement = judge(tables, [folder.run], claims.ALL)[folder.run]
            told, derived = telling.result(), writing.result()
        rows = build(
            {name: SparkRows(table) for name, table in derived.items()}, length_ms(folder.path)
        )
    run = JudgedRun(
        results=judgement.results,
        verdict=judgement.verdict,
        folder=folder,
        delivery=_numbers(told["delivery"], NO_DELIVERY),
        promotion=_numbers(told["promotion"], NO_PROMOTION),
        safety_net=_numbers(told["safety_net"], NO_SAFETY_NET),
        clocks_off=tuple(map(_unnamed, told["clocks_off"])),
        log_damage=tuple(map(_unnamed, told["log_damage"])),
        fates=tuple(rows.fates),
    )
    return run, rows


def _write_tables(tables: Tables, folder: RunFolder) -> Mapping[str, DataFrame]:
    """As they are written, so that nobody makes them again."""
    made: dict[str, DataFrame] = {}
    for name, make in results.derived_tables(tables).items():
        made[name] = results.conform(make(), name)
        results.write_table(name, made[name], folder)
    return made


def _told(tables: Tables) -> dict[str, Rows]:
    """Counts, what could not be read, and whose clock was off: a few rows."""
    damage = log_damage(tables.record.damaged_lines).orderBy("file", "damage")
    told = {
        "delivery": counts.delivery(tables),
        "promotion": counts.promotion(tables),
        "clocks_off": tables.record.clocks_off.orderBy("server"),
        "log_damage": damage.select("file", "damage", "lines", "first_line"),
    }
    if tables.resubmission is not None:
        told["safety_net"] = counts.safety_net(tables.resubmission)
    return {"safety_net": []} | collected(told)


def _unnamed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "run"}


def _numbers(rows: Rows, none: Mapping[str, object]) -> Mapping[str, object]:
    return counts.numbers(_unnamed(rows[0])) if rows else none
