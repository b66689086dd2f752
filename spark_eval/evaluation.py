"""One evaluation from folders to verdicts: read, derive, judge, write.

Claims are judged while tables are written, each by its own thread of the driver; what both need is
made once. The verdict is written last: where it is, everything it speaks of is there too. Nothing
here says what is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import DataFrame, SparkSession

from spark_eval import claims, counts, results
from spark_eval.checkpoints import checkpoints_below
from spark_eval.claims.claim import Claim
from spark_eval.collected import Rows, collected
from spark_eval.files import as_text, junit_xml, verdict_content
from spark_eval.judged import JudgedRun
from spark_eval.judging import judge
from spark_eval.read.damage import log_damage
from spark_eval.read.record import Record
from spark_eval.read.run_folder import RunFolder
from spark_eval.read.source import Folders
from spark_eval.report.build import build
from spark_eval.report.page import write_page
from spark_eval.report.render import read_facts
from spark_eval.tables import Tables
from spark_eval.whole_file import write_whole


def evaluate(
    spark: SparkSession, folders: Sequence[RunFolder], checks: Sequence[Claim] = claims.ALL
) -> list[JudgedRun]:
    """Judges `folders` together, keyed by run, and writes each one's files, tables and report."""
    with checkpoints_below(spark, folders[0].place(folders[0].evaluation)):
        return _evaluated(spark, folders, checks)


def _evaluated(
    spark: SparkSession, folders: Sequence[RunFolder], checks: Sequence[Claim]
) -> list[JudgedRun]:
    tables = Tables(
        Record(Folders(spark, folders)),
        may_resubmit=any(f.may_resubmit for f in folders),
        may_cross=any(f.may_cross for f in folders),
    )
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(_write_tables, tables, folders)
        judged = _judged(tables, folders, checks)
        derived = writing.result()
    for run in judged:
        _write_report(run, _of_run(derived, run.folder, folders))
        _write_verdict(run)
    return judged


def _write_tables(tables: Tables, folders: Sequence[RunFolder]) -> dict[str, DataFrame]:
    made: dict[str, DataFrame] = {}
    for name, make in results.derived_tables(tables).items():
        made[name] = results.conform(make(), name)
        results.write_table(name, made[name], folders)
    return made


def _write_report(run: JudgedRun, derived: Mapping[str, DataFrame]) -> None:
    """The tables of the claims, the stories of their counter-examples, and the page."""
    folder, told = run.folder, run.results.values()
    stories = results.stories_of(folder, told)
    lines = [{"run": folder.run} | line.as_row() for line in stories]
    results.write_rows("claims", results.claim_rows(folder.run, told), folder)
    results.write_rows("counterexamples", results.example_rows(folder.run, told), folder)
    results.write_rows("stories", lines, folder)
    content = verdict_content(run)
    write_page(folder, content, build(derived, stories, read_facts(folder.path, content).end_ms))


def _write_verdict(run: JudgedRun) -> None:
    write_whole(run.folder.path / "junit.xml", junit_xml(run))
    write_whole(run.folder.path / "verdict.json", as_text(verdict_content(run)))


def _judged(
    tables: Tables, folders: Sequence[RunFolder], checks: Sequence[Claim]
) -> list[JudgedRun]:
    """Every judgement, with the counts and the damage that verdict.json tells beside it."""
    judgements = judge(tables, [folder.run for folder in folders], checks)
    told = _told(tables)
    return [
        JudgedRun(
            results=judgements[folder.run].results,
            verdict=judgements[folder.run].verdict,
            folder=folder,
            delivery=_numbers(told["delivery"], folder, counts.NO_DELIVERY),
            promotion=_numbers(told["promotion"], folder, counts.NO_PROMOTION),
            safety_net=_numbers(told["safety_net"], folder, counts.NO_SAFETY_NET),
            clocks_off=tuple(_own(told["clocks_off"], folder)),
            log_damage=tuple(_own(told["log_damage"], folder)),
            not_built=counts.NOT_BUILT,
        )
        for folder in folders
    ]


def _told(tables: Tables) -> dict[str, Rows]:
    """Counts, what could not be read, and whose clock was off: a few rows a run."""
    damage = log_damage(tables.record.damaged_lines).orderBy("run", "file", "damage")
    told = {
        "delivery": counts.delivery(tables),
        "promotion": counts.promotion(tables),
        "clocks_off": tables.record.clocks_off.orderBy("run", "server"),
        "log_damage": damage.select("run", "file", "damage", "lines", "first_line"),
    }
    if tables.resubmission is not None:
        told["safety_net"] = counts.safety_net(tables.resubmission)
    return {"safety_net": []} | collected(told)


def _own(rows: Rows, folder: RunFolder) -> Rows:
    """The rows of one run, without its name."""
    own = [row for row in rows if row["run"] == folder.run]
    return [{name: value for name, value in row.items() if name != "run"} for row in own]


def _numbers(rows: Rows, folder: RunFolder, none: Mapping[str, object]) -> Mapping[str, object]:
    own = _own(rows, folder)
    return counts.numbers(own[0]) if own else none


def _of_run(
    derived: Mapping[str, DataFrame], folder: RunFolder, folders: Sequence[RunFolder]
) -> Mapping[str, DataFrame]:
    if len(folders) == 1:
        return derived
    return {name: rows.where(rows["run"] == folder.run) for name, rows in derived.items()}
