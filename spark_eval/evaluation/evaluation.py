"""One evaluation from folders to verdicts: read, derive, judge, write.

Claims are judged while tables are written and pages prepared, each by its own thread of the driver;
what they need in common is made once. The verdict is written last: where it is, everything it
speaks of is there too. Nothing here says what is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from spark_eval import claims
from spark_eval.claims.claim import Claim
from spark_eval.expected.tables import Tables
from spark_eval.judging.judge import judge
from spark_eval.judging.judged import JudgedRun, Judgement
from spark_eval.read.damage import log_damage
from spark_eval.read.line_blocks import refuse_what_is_too_large
from spark_eval.read.record import Record
from spark_eval.read.run_folder import RunFolder, RunFolderError
from spark_eval.read.scope import together
from spark_eval.read.source import Folders
from spark_eval.report.build import build, with_stories
from spark_eval.report.page import write_page
from spark_eval.report.render import length_ms
from spark_eval.report.rows import ReportRows
from spark_eval.results import counts
from spark_eval.results import tables as results
from spark_eval.results.files import as_text, junit_xml, verdict_content
from spark_eval.results.whole_file import write_whole
from spark_eval.spark.checkpoints import checkpoints_below
from spark_eval.spark.released import released
from spark_eval.sql.collected import Rows, collected

Derived = Mapping[str, DataFrame]

AT_ONCE = 25
"""Pages whose rows one Spark job makes: each is bounded, and the driver holds them all."""


def evaluate(
    spark: SparkSession, folders: Sequence[RunFolder], checks: Sequence[Claim] | None = None
) -> list[JudgedRun]:
    """Judges `folders` together, keyed by run, and writes each one's files, tables and report.
    All claims are asked where none are named.

    Raises `RunFolderError` where two of them are the same run, or a line is longer than any may be.
    """
    distinct(folders)
    for folder in folders:
        refuse_what_is_too_large(folder)
    place = folders[0].place(folders[0].evaluation)
    with released(spark), checkpoints_below(spark, place):
        return _evaluated(spark, folders, claims.ALL if checks is None else checks)


def distinct(folders: Sequence[RunFolder]) -> None:
    """Two records of one name would be read as one. Raises `RunFolderError`."""
    known: dict[str, RunFolder] = {}
    for folder in folders:
        other = known.setdefault(folder.run, folder)
        if other is not folder:
            cause = f"run folder {_named(folder)}: {folder.run} is given twice, as {_named(other)}"
            raise RunFolderError(cause, "judge each copy of a run by a call of its own")


def _named(folder: RunFolder) -> str:
    return folder.uri or str(folder.path)


def _evaluated(
    spark: SparkSession, folders: Sequence[RunFolder], checks: Sequence[Claim]
) -> list[JudgedRun]:
    tables = Tables(Record(Folders(spark, folders)), together([f.scope for f in folders]))
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(_write_tables, tables, folders)
        telling = pool.submit(_told, tables)
        pages = _page_rows(pool, writing, folders)
        judgements = judge(tables, [folder.run for folder in folders], checks)
        judged = []
        for run, rows in zip(_judged(judgements, telling.result(), folders), pages, strict=True):
            judged.append(replace(run, fates=tuple(rows.fates)))
            _write_report(run, rows)
            _write_verdict(run)
    return judged


def _page_rows(
    pool: Executor, writing: Future[Derived], folders: Sequence[RunFolder]
) -> Iterator[ReportRows]:
    """What the page of each folder shows; the first are made from now on, the next ones ahead of
    need.
    """
    some = [folders[first : first + AT_ONCE] for first in range(0, len(folders), AT_ONCE)]
    return _in_order(pool, writing, some, pool.submit(_built, writing, some[0]))


def _in_order(
    pool: Executor,
    writing: Future[Derived],
    some: Sequence[Sequence[RunFolder]],
    making: Future[Mapping[str, ReportRows]],
) -> Iterator[ReportRows]:
    for number, folders in enumerate(some, start=1):
        made = making.result()
        if number < len(some):
            making = pool.submit(_built, writing, some[number])
        yield from (made[folder.run] for folder in folders)


def _built(writing: Future[Derived], folders: Sequence[RunFolder]) -> Mapping[str, ReportRows]:
    return build(writing.result(), {each.run: length_ms(each.path) for each in folders})


def _write_tables(tables: Tables, folders: Sequence[RunFolder]) -> Derived:
    made: dict[str, DataFrame] = {}
    for name, make in results.derived_tables(tables).items():
        made[name] = results.conform(make(), name)
        results.write_table(name, made[name], folders)
    return made


def _write_report(run: JudgedRun, rows: ReportRows) -> None:
    """The tables of the claims, the stories of their counter-examples, and the page."""
    folder, told = run.folder, run.results.values()
    stories = results.stories_of(folder, told)
    lines = [{"run": folder.run} | line.as_row() for line in stories]
    results.write_rows("claims", results.claim_rows(folder.run, told), folder)
    results.write_rows("counterexamples", results.example_rows(folder.run, told), folder)
    results.write_rows("stories", lines, folder)
    write_page(folder, verdict_content(run), with_stories(rows, stories))


def _write_verdict(run: JudgedRun) -> None:
    write_whole(run.folder.path / "junit.xml", junit_xml(run))
    write_whole(run.folder.path / "verdict.json", as_text(verdict_content(run)))


def _judged(
    judgements: Mapping[str, Judgement], told: Mapping[str, Rows], folders: Sequence[RunFolder]
) -> list[JudgedRun]:
    """Every judgement, with the counts and the damage that verdict.json gives beside it."""
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
