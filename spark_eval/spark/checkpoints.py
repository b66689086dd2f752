"""Where settled tables are kept on a cluster: written, so that a lost executor loses none of them.

On one machine nothing is written: there is no executor but the driver itself. They are where
`spark.checkpoint.dir` says; else beside the tables that stay, as long as the work lasts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from spark_eval.spark.paths import to_write

GIVEN = "spark.checkpoint.dir"
FOLDER = "checkpoints"


@contextmanager
def checkpoints_below(spark: SparkSession, place: Path | str) -> Iterator[None]:
    """`place`: a folder that driver and executors reach; a path or a URI."""
    context = spark.sparkContext
    if str(context.master).startswith("local") or context.getConf().contains(GIVEN):
        yield
        return
    where = f"{to_write(place)}/{FOLDER}"
    context.setCheckpointDir(where)
    try:
        yield
    finally:
        assert context._jvm is not None
        path = context._jvm.org.apache.hadoop.fs.Path(where)
        path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)


def are_written(spark: SparkSession) -> bool:
    return spark.sparkContext.getCheckpointDir() is not None
