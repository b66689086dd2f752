"""Runs spread over Spark's tasks: each is read, judged and turned into rows whole, in one task.

Many runs go through in parts, so that the driver holds the tables of a few. A run folder that
Spark's workers see is read there; else the driver, which has a copy, sends its bytes along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_eval.claims.claim import Claim
from spark_eval.read.folder.files import Files, FolderFiles, MemoryFiles
from spark_eval.read.folder.run_folder import RunFolder
from spark_eval.results.arrow import ARROW_SCHEMAS
from spark_eval.spark.shipped import is_local, ship
from spark_eval.spread.whole_run import WholeRun, whole_run

AT_ONCE_A_CORE = 8


def judged(
    spark: SparkSession, folders: Sequence[RunFolder], claims: Sequence[Claim]
) -> Iterator[WholeRun]:
    """In the order of `folders`. Raises `OSError`, Spark's own errors."""
    context = spark.sparkContext
    ship(context)
    judge = partial(whole_run, schemas=ARROW_SCHEMAS, claims=claims)
    some = AT_ONCE_A_CORE * context.defaultParallelism
    for first in range(0, len(folders), some):
        files = [_files(context, folder) for folder in folders[first : first + some]]
        yield from context.parallelize(files, len(files)).map(judge).collect()


def warm(spark: SparkSession) -> None:
    """Have workers up, with the judge in them, before there is anything to judge."""
    context = spark.sparkContext
    ship(context)
    count = context.defaultParallelism
    context.parallelize(range(count), count).map(_loaded).collect()


def _loaded(_number: int) -> str:
    return whole_run.__name__


def _files(context: SparkContext, folder: RunFolder) -> Files:
    if is_local(context):
        return FolderFiles(folder.path)
    there = FolderFiles(folder.path)
    contents = {}
    for name in there.names():
        with there.open(name) as file:
            contents[name] = file.read()
    return MemoryFiles(contents)
