"""One evaluation from folders to verdicts: read, derive, judge, write.

Claims and tables run side by side, since each is mostly waiting for the driver. Nothing here says
what is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from spark_eval import claims, counts, results
from spark_eval.claims.claim import Claim
from spark_eval.files import as_text, junit_xml, verdict_content
from spark_eval.judged import JudgedRun
from spark_eval.judging import judge
from spark_eval.read.damage import log_damage
from spark_eval.read.record import Record, read_record
from spark_eval.read.run_folder import RunFolder
from spark_eval.read.source import Folders
from spark_eval.report.build import build
from spark_eval.report.page import write_page
from spark_eval.report.render import read_facts
from spark_eval.tables import Tables, build_tables
from spark_eval.whole_file import write_whole

SIDE_BY_SIDE = 4


def evaluate(
    spark: SparkSession, folders: Sequence[RunFolder], checks: Sequence[Claim] = claims.ALL
) -> list[JudgedRun]:
    """Judges `folders` together, keyed by run, and writes each one's files, tables and report."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        record = read_record(Folders(spark, folders))
        warming = [pool.submit(rows.count) for rows in (record.tracking, record.ledger)]
        tables = build_tables(
            record,
            may_resubmit=any(f.may_resubmit for f in folders),
            may_cross=any(f.may_cross for f in folders),
        )
        for job in warming:
            job.result()
        judging = pool.submit(_counted, tables, folders, checks)
        derived = results.derived_tables(tables)
        of_run = {folder.run: _of_run(derived, folder, folders) for folder in folders}
        for folder in folders:
            results.write_tables(of_run[folder.run], folder, pool)
        judged = judging.result()
        for run in judged:
            _write(spark, run, tables, of_run[run.folder.run], pool)
    return judged


def _write(
    spark: SparkSession,
    run: JudgedRun,
    tables: Tables,
    derived: Mapping[str, DataFrame],
    pool: ThreadPoolExecutor,
) -> None:
    """verdict.json, junit.xml, the tables of the claims, and the report."""
    folder = run.folder
    content = verdict_content(run)
    write_whole(folder.path / "verdict.json", as_text(content))
    write_whole(folder.path / "junit.xml", junit_xml(run))
    told = results.claim_tables(spark, folder.run, run.results)
    told["stories"] = results.story_table(spark, folder, run.results)
    results.write_tables(told, folder, pool)
    end_ms = read_facts(folder.path, content).end_ms
    shown = build({**derived, "stories": told["stories"]}, end_ms, pool)
    write_page(folder, content, shown)


def _counted(
    tables: Tables, folders: Sequence[RunFolder], checks: Sequence[Claim]
) -> list[JudgedRun]:
    """Every judgement, with the counts and the damage that verdict.json tells beside it."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        delivery = pool.submit(counts.delivery, tables)
        promotion = pool.submit(counts.promotion, tables)
        safety_net = pool.submit(counts.safety_net, tables)
        damage = pool.submit(_damage, tables.record)
        clocks = pool.submit(_clocks_off, tables.record)
        judgements = judge(tables, [folder.run for folder in folders], checks, pool)
    return [
        JudgedRun(
            results=judgements[folder.run].results,
            verdict=judgements[folder.run].verdict,
            folder=folder,
            delivery=delivery.result().get(folder.run, counts.NO_DELIVERY),
            promotion=promotion.result().get(folder.run, counts.NO_PROMOTION),
            safety_net=safety_net.result().get(folder.run, counts.NO_SAFETY_NET),
            clocks_off=tuple(clocks.result().get(folder.run, [])),
            log_damage=tuple(damage.result().get(folder.run, [])),
            not_built=counts.NOT_BUILT,
        )
        for folder in folders
    ]


def _of_run(
    derived: Mapping[str, DataFrame], folder: RunFolder, folders: Sequence[RunFolder]
) -> dict[str, DataFrame]:
    if len(folders) == 1:
        return dict(derived)
    return {name: rows.where(rows["run"] == folder.run) for name, rows in derived.items()}


def _damage(record: Record) -> dict[str, list[dict[str, Any]]]:
    """By run: what could not be read, one entry a file and kind of damage."""
    rows = log_damage(record.damaged_lines).orderBy("run", "file", "damage")
    return _by_run(rows.select("run", "file", "damage", "lines", "first_line"))


def _clocks_off(record: Record) -> dict[str, list[dict[str, Any]]]:
    """By run: whose clock was seen to be off, one entry a server."""
    return _by_run(record.clocks_off.orderBy("run", "server"))


def _by_run(rows: DataFrame) -> dict[str, list[dict[str, Any]]]:
    by_run: dict[str, list[dict[str, Any]]] = {}
    for row in rows.collect():
        entry = row.asDict()
        by_run.setdefault(entry.pop("run"), []).append(entry)
    return by_run
