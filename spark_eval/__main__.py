"""`python -m spark_eval RUN`: judge run folders, print the verdict, leave the files beside the
record. `python -m spark_eval --sweep FOLDER`: judge the batches of a sweep.

Exit codes: 0 pass, 1 fail, 2 unknown, 3 a check crashed or the record could not be evaluated, 4 the
call is wrong. Of several runs the worst counts: 3, 1, 2, 0.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from pyspark.errors import PySparkException

from spark_eval.evaluation import evaluate, report_again
from spark_eval.judged import JudgedRun
from spark_eval.outer_edge import guarded
from spark_eval.read.run_folder import (
    RunFolder,
    RunFolderError,
    UnreadableRecordError,
    open_run_folder,
)
from spark_eval.session import Purpose, session
from spark_eval.story import story_lines
from spark_eval.summary import summary
from spark_eval.sweep.folder import SweepFolder, open_sweep
from spark_eval.sweep.program import judge_as_told, judge_complete
from spark_eval.verdict import CRASHED

WRONG_CALL = 4
WORST_FIRST = (CRASHED, 1, 2, 0)


class Parser(argparse.ArgumentParser):
    """argparse ends a wrong call with 2, which here means unknown."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG_CALL, f"error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; data goes to standard output, everything else to standard error."""
    options = _parser().parse_args(arguments)
    try:
        if options.sweep:
            return _judge_sweep(open_sweep(options.sweep), options)
        if options.when_told and not _told(options.master):
            return CRASHED
        folders = [open_run_folder(path) for path in options.run]
        if options.story:
            return _story(folders, options)
        return _evaluate(folders, options.master, report_only=options.report_only)
    except RunFolderError as error:
        print(f"error: {error.cause}\nhint: {error.hint}", file=sys.stderr)
        return CRASHED if isinstance(error, UnreadableRecordError) else WRONG_CALL
    except (PySparkException, OSError, ValueError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        print(f"error: the record could not be evaluated: {said[0]}", file=sys.stderr)
        print("hint: Spark needs Java 17 or newer and room to write", file=sys.stderr)
        return CRASHED


def _told(master: str) -> bool:
    """Bring Spark up meanwhile, then wait for a line on standard input; False: nobody told."""
    session(master)
    return bool(sys.stdin.readline())


def _evaluate(folders: list[RunFolder], master: str, *, report_only: bool) -> int:
    spark = session(master)
    try:
        if not report_only:
            return _tell(evaluate(spark, folders))
        for folder in folders:
            report_again(spark, folder)
            print(f"report: {folder.path / 'report.html'}")
        return 0
    finally:
        spark.stop()


def _story(folders: list[RunFolder], options: argparse.Namespace) -> int:
    spark = session(options.master)
    try:
        for folder in folders:
            print(*story_lines(spark, folder, options.story), sep="\n")
        return 0
    finally:
        spark.stop()


def _judge_sweep(sweep: SweepFolder, options: argparse.Namespace) -> int:
    purpose = Purpose.RUN if options.small_batches else Purpose.SWEEP
    spark = session(options.master, purpose=purpose)
    try:
        if options.when_told:
            return judge_as_told(spark, sweep, sys.stdin)
        return judge_complete(spark, sweep)
    finally:
        spark.stop()


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m spark_eval", description=__doc__.split("\n")[0])
    judged = parser.add_mutually_exclusive_group(required=True)
    judged.add_argument("run", type=Path, nargs="*", default=[], help="a run folder, or several")
    judged.add_argument("--sweep", type=Path, metavar="FOLDER", help="the folder of a sweep")
    parser.add_argument("--master", default="local[*]", help="Spark master (default: local[*])")
    parser.add_argument(
        "--report-only", action="store_true", help="make the report again from evaluation/"
    )
    parser.add_argument("--story", metavar="MESSAGE-ID", help="print every line about a message")
    parser.add_argument(
        "--when-told",
        action="store_true",
        help="bring Spark up, then wait for a line on standard input; of a sweep: judge the "
        "batches named there, a line each, until `end`",
    )
    parser.add_argument(
        "--small-batches",
        action="store_true",
        help="batches of a sweep are of some ten runs: compile nothing for them",
    )
    return parser


def _tell(judged: list[JudgedRun]) -> int:
    for run in judged:
        print(summary(run))
        print(f"report: {run.folder.path / 'report.html'}")
    codes = {run.verdict.exit_code for run in judged}
    return next(code for code in WORST_FIRST if code in codes)


if __name__ == "__main__":
    sys.exit(guarded(main))
