"""One evaluation from folders to verdicts: read, derive, check, reach, write.

Claims and tables run side by side, since each is mostly waiting for the driver. A check that
crashes makes its claim unknown and leaves the others alone. Nothing here says what is right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from spark_eval import claims, numbers, results, verdict
from spark_eval.claims.claim import Claim, ClaimResult
from spark_eval.expected.copies import FAR_ABOVE
from spark_eval.files import as_text, junit_xml, verdict_content
from spark_eval.judged import JudgedRun
from spark_eval.read.damage import log_damage
from spark_eval.read.record import Record, read_record
from spark_eval.read.run_folder import RunFolder, RunFolderError
from spark_eval.report.build import build
from spark_eval.report.render import read_facts, render
from spark_eval.tables import Tables, build_tables

SIDE_BY_SIDE = 4


def evaluate(
    spark: SparkSession, folders: Sequence[RunFolder], checks: Sequence[Claim] = claims.ALL
) -> list[JudgedRun]:
    """Judges `folders` together, keyed by run, and writes each one's files, tables and report."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        record = read_record(spark, folders)
        warming = [pool.submit(rows.count) for rows in (record.tracking, record.ledger)]
        tables = build_tables(record)
        for job in warming:
            job.result()
        judging = pool.submit(judge, tables, folders, checks)
        derived = results.derived_tables(tables)
        of_run = {folder.run: _of_run(derived, folder, folders) for folder in folders}
        for folder in folders:
            results.write_tables(of_run[folder.run], folder.evaluation, pool)
        judged = judging.result()
        for run in judged:
            _write(spark, run, of_run[run.folder.run], pool)
    return judged


def report_again(spark: SparkSession, folder: RunFolder) -> None:
    """The page once more, from verdict.json and the tables of `evaluation/`; judges nothing."""
    verdict_file = folder.path / "verdict.json"
    if not verdict_file.is_file() or not folder.evaluation.is_dir():
        cause = f"run folder {folder.path.name}: it was never evaluated"
        raise RunFolderError(cause, "shadowlab evaluate makes verdict.json and evaluation/")
    content = json.loads(verdict_file.read_text(encoding="utf-8"))
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        _write_report(folder, content, results.read_tables(spark, folder.evaluation), pool)


def _write(
    spark: SparkSession, run: JudgedRun, derived: Mapping[str, DataFrame], pool: ThreadPoolExecutor
) -> None:
    """verdict.json, junit.xml, the tables of the claims, and the report."""
    folder = run.folder
    content = verdict_content(run)
    (folder.path / "verdict.json").write_text(as_text(content), encoding="utf-8")
    (folder.path / "junit.xml").write_text(junit_xml(run), encoding="utf-8")
    results.write_tables(
        results.claim_tables(spark, folder.run, run.results), folder.evaluation, pool
    )
    _write_report(folder, content, derived, pool)


def _write_report(
    folder: RunFolder,
    content: Mapping[str, Any],
    tables: Mapping[str, DataFrame],
    pool: ThreadPoolExecutor,
) -> None:
    facts = read_facts(folder.path)
    page = render(content, build(tables, facts.end_ms, pool), facts)
    (folder.path / "report.html").write_text(page, encoding="utf-8")


def judge(tables: Tables, folders: Sequence[RunFolder], checks: Sequence[Claim]) -> list[JudgedRun]:
    """Every claim of every run, the counts, and the verdicts; writes nothing."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        checking = {
            check.name: pool.submit(check_claim, check, tables, folders) for check in checks
        }
        delivery = pool.submit(numbers.delivery, tables)
        promotion = pool.submit(numbers.promotion, tables)
        damage = pool.submit(_damage, tables.record)
        asked = pool.submit(_asked, tables)
    return [
        _judged(
            folder,
            {name: job.result()[folder.run] for name, job in checking.items()},
            asked.result()[folder.run],
            delivery.result().get(folder.run, numbers.NO_DELIVERY),
            promotion.result().get(folder.run, numbers.NO_PROMOTION),
            damage.result().get(folder.run, []),
        )
        for folder in folders
    ]


def check_claim(
    check: Claim, tables: Tables, folders: Sequence[RunFolder]
) -> dict[str, ClaimResult]:
    """The claim's result for every folder; whatever it raises becomes unknown, crashed."""
    try:
        found = check.check(tables)
    except Exception as error:
        return {folder.run: check.crashed(error) for folder in folders}
    return {folder.run: found.get(folder.run, check.nothing_asked()) for folder in folders}


def _judged(
    folder: RunFolder,
    found: Mapping[str, ClaimResult],
    asked: verdict.Asked,
    delivery: Mapping[str, Any],
    promotion: Mapping[str, Any],
    damage: list[dict[str, Any]],
) -> JudgedRun:
    return JudgedRun(
        folder=folder,
        results=found,
        verdict=verdict.reach(found, asked),
        delivery=delivery,
        promotion=promotion,
        log_damage=tuple(damage),
        not_built=numbers.NOT_BUILT,
    )


def _of_run(
    derived: Mapping[str, DataFrame], folder: RunFolder, folders: Sequence[RunFolder]
) -> dict[str, DataFrame]:
    if len(folders) == 1:
        return dict(derived)
    return {name: rows.where(rows["run"] == folder.run) for name, rows in derived.items()}


def _asked(tables: Tables) -> dict[str, verdict.Asked]:
    """What each plan asks, with the evidence of its faults."""
    faults = tables.windows.groupBy("run").agg(
        F.expr("array_sort(collect_list(struct(fault, took_effect))) AS faults")
    )
    rows = tables.record.runs.join(faults, "run", "left").collect()
    return {row["run"]: _asked_of(row) for row in rows}


def _asked_of(row: Row) -> verdict.Asked:
    expect = row["expect"].asDict() if row["expect"] else {}
    return verdict.Asked(
        proves=tuple(row["proves"] or ()),
        expects_loss=expect.get("lost") is not None or bool(expect.get("unprotected_loss")),
        expects_promotions=bool(expect.get("promotions")),
        faults={fault["fault"]: fault["took_effect"] for fault in row["faults"] or ()},
        too_coarse=_too_coarse(row),
        foretold=expect.get("verdict") or verdict.PASS,
    )


def _too_coarse(row: Row) -> str:
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


def _damage(record: Record) -> dict[str, list[dict[str, Any]]]:
    """By run: what could not be read, one entry a file and kind of damage."""
    by_run: dict[str, list[dict[str, Any]]] = {}
    rows = log_damage(record.damaged_lines).orderBy("run", "file", "damage")
    for row in rows.select("run", "file", "damage", "lines", "first_line").collect():
        entry = row.asDict()
        by_run.setdefault(entry.pop("run"), []).append(entry)
    return by_run
