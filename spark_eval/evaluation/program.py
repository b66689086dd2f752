"""What `python -m spark_eval` does on a Spark session: judge run folders.

Apart from `__main__`, since importing Spark takes longer than an answer that needs none of it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.errors import PySparkException, PythonException
from pyspark.sql import SparkSession

from spark_eval.evaluation.evaluation import LARGE_BYTES, evaluate
from spark_eval.evaluation.remote import fetch, send
from spark_eval.judging.judged import JudgedRun
from spark_eval.program.exit_codes import CRASHED, WORST_FIRST
from spark_eval.program.printable import visible
from spark_eval.read.folder.files import all_bytes
from spark_eval.read.folder.run_folder import (
    RunFolder,
    UnreadableRecordError,
    is_uri,
    open_run_folder,
)
from spark_eval.results.colour import coloured
from spark_eval.results.summary import summary
from spark_eval.session import Purpose, using_session
from spark_eval.spread import by_run

RAISED = re.compile(r"[A-Za-z_.]+(Error|Exception|Exit)\b|\[[A-Z_]+\]")


def judge_runs(names: list[str], options: argparse.Namespace) -> int:
    """Open, judge and print them. Raises RunFolderError, UnreadableRecordError."""
    try:
        with using_session(options.master, purpose=purpose_of(names)) as spark:
            # Spark comes up while the record is still being written
            if options.when_told:
                by_run.warm(spark)
                if not sys.stdin.readline():
                    return CRASHED
            with opened(spark, names) as folders:
                return _tell(evaluate(spark, folders))
    except PySparkException as error:
        raise _unreadable(error) from error


def with_fetched(names: list[str], master: str | None, work: Callable[[RunFolder], None]) -> int:
    """`work` on copies of run folders that URIs name: only Spark's Hadoop can fetch them."""
    try:
        with using_session(master) as spark, opened(spark, names) as folders:
            for folder in folders:
                work(folder)
            return 0
    except PySparkException as error:
        raise _unreadable(error) from error


@contextmanager
def opened(spark: SparkSession, names: list[str]) -> Iterator[list[RunFolder]]:
    """The folders; what is left in copies of those elsewhere is sent there in the end."""
    with TemporaryDirectory(prefix="shadowlab-fetched-") as scratch:
        folders = [
            fetch(spark, name, Path(scratch).resolve() / str(number))
            if is_uri(name)
            else open_run_folder(Path(name))
            for number, name in enumerate(names)
        ]
        yield folders
        for folder in folders:
            if folder.uri is not None:
                send(spark, folder)


def purpose_of(names: list[str]) -> Purpose:
    """By the size of the largest, of those that are there."""
    sizes = (all_bytes(Path(name)) for name in names if not is_uri(name))
    return Purpose.LARGE if max(sizes, default=0) > LARGE_BYTES else Purpose.RUN


def _unreadable(error: PySparkException) -> UnreadableRecordError:
    said = str(error).strip().splitlines() or [type(error).__name__]
    cause, hint = said[0], "Spark needs Java 17 or newer, memory and room to write"
    if isinstance(error, PythonException):
        # the traceback of a worker, and what Spark adds
        cause = next((each for each in reversed(said) if RAISED.match(each)), cause)
        hint = "workers need a Python of the same version, with pyarrow: set PYSPARK_PYTHON"
    return UnreadableRecordError(f"the record could not be evaluated: {cause}", hint)


def _tell(judged: list[JudgedRun]) -> int:
    for run in judged:
        print(coloured(summary(run), run.verdict.verdict, sys.stdout))
        print(visible(f"report: {run.folder.report}"))
    codes = {run.verdict.exit_code for run in judged}
    return next(code for code in WORST_FIRST if code in codes)
