"""One evaluation from folders to verdicts: runs are judged in tasks of Spark, and written here.

The verdict is written last: where it is, everything it speaks of is there too. Nothing here says
what is right.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from spark_eval.claims.catalogue import ALL
from spark_eval.claims.claim import Claim
from spark_eval.judging.judged import JudgedRun
from spark_eval.read.folder.files import all_bytes
from spark_eval.read.folder.line_blocks import refuse_what_is_too_large
from spark_eval.read.folder.run_folder import RunFolder, RunFolderError
from spark_eval.report.build import with_stories
from spark_eval.report.page import write_page
from spark_eval.report.rows import ReportRows
from spark_eval.results import written as results
from spark_eval.results.files import as_text, junit_xml, verdict_content
from spark_eval.results.whole_file import write_whole
from spark_eval.spread import by_message, by_run
from spark_eval.spread.whole_run import WholeRun

LARGE_BYTES = 64 * 1024 * 1024
"""Of a run's evidence: some ten thousand messages. More of it is too much for one task."""


def evaluate(
    spark: SparkSession, folders: Sequence[RunFolder], checks: Sequence[Claim] = ALL
) -> list[JudgedRun]:
    """Judges each of `folders` and writes its files, tables and report.

    Raises `RunFolderError` where two of them are the same run, or a line is longer than any may be.
    """
    distinct(folders)
    for folder in folders:
        refuse_what_is_too_large(folder)
    large = {folder.run for folder in folders if is_large(folder)}
    whole = by_run.judged(spark, [each for each in folders if each.run not in large], checks)
    return [
        written(
            folder,
            by_message.judged(spark, folder, checks) if folder.run in large else next(whole),
        )
        for folder in folders
    ]


def is_large(folder: RunFolder) -> bool:
    return all_bytes(folder.path) > LARGE_BYTES


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


def written(folder: RunFolder, found: WholeRun) -> JudgedRun:
    """Its files, tables and report, beside the record."""
    for name, rows in found.tables.items():
        results.write_arrow(rows, name, folder)
    run = JudgedRun(
        results=found.judgement.results,
        verdict=found.judgement.verdict,
        folder=folder,
        delivery=found.counts["delivery"],
        promotion=found.counts["promotion"],
        safety_net=found.counts["safety_net"],
        exposure=found.counts["exposure"],
        clocks_off=found.clocks_off,
        log_damage=found.log_damage,
        fates=tuple(found.rows.fates),
    )
    _write_report(run, found.rows)
    write_whole(run.folder.path / "junit.xml", junit_xml(run))
    write_whole(run.folder.path / "verdict.json", as_text(verdict_content(run)))
    return run


def _write_report(run: JudgedRun, rows: ReportRows) -> None:
    """The tables of the claims, the stories of their counter-examples, and the page."""
    folder, told = run.folder, run.results.values()
    stories = results.stories_of(folder, told)
    lines = [{"run": folder.run} | line.as_row() for line in stories]
    results.write_rows("claims", results.claim_rows(folder.run, told), folder)
    results.write_rows("counterexamples", results.example_rows(folder.run, told), folder)
    results.write_rows("stories", lines, folder)
    write_page(folder, verdict_content(run), with_stories(rows, stories))
