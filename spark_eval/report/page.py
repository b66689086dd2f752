"""report.html of a run folder, with the rows that it shows beside it; judges nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_eval.read.folder.given_json import read_json
from spark_eval.read.folder.run_folder import RunFolder, RunFolderError
from spark_eval.report.render import MISSHAPEN, read_facts, render
from spark_eval.report.rows import ReportRows, rows_of
from spark_eval.results.whole_file import write_whole

ROWS = "report.json"
PAGE = "report.html"


def write_page(folder: RunFolder, verdict: Mapping[str, Any], rows: ReportRows) -> None:
    """`verdict` is the content of verdict.json."""
    write_whole(folder.evaluation / ROWS, rows.as_json())
    write_whole(folder.path / PAGE, _page(folder, verdict, rows))


def page_again(folder: RunFolder) -> None:
    """The page once more, from verdict.json and the rows beside it: without Spark.

    Raises RunFolderError where the run was never evaluated by this version.
    """
    verdict_file, rows_file = folder.path / "verdict.json", folder.evaluation / ROWS
    hint = f"shadowlab evaluate makes verdict.json and evaluation/{ROWS}"
    if not verdict_file.is_file() or not folder.evaluation.is_dir():
        raise RunFolderError(f"run folder {folder.path.name}: it was never evaluated", hint)
    if not rows_file.is_file():
        cause = f"run folder {folder.path.name}: it was evaluated by an earlier version"
        raise RunFolderError(cause, hint)
    try:
        verdict = read_json(verdict_file)
        page = _page(folder, verdict, rows_of(read_json(rows_file)))
    except MISSHAPEN as error:
        raise RunFolderError(f"the report's rows cannot be read: {error}", hint) from error
    write_whole(folder.path / PAGE, page)


def _page(folder: RunFolder, verdict: Mapping[str, Any], rows: ReportRows) -> str:
    return render(verdict, rows, read_facts(folder.path, verdict))
