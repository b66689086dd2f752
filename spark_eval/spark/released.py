"""Memory of a session that goes on: what one piece of work kept is freed before the next."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def released(spark: SparkSession) -> Iterator[None]:
    """Frees what was settled within, and nothing that was there before.

    The JVM keeps a plan for as long as Python has its frame, and frames that refer to each other
    until its collector finds them, which in a large process is seldom.
    """
    context = spark.sparkContext._jsc
    before = set(context.getPersistentRDDs().keySet())
    try:
        yield
    finally:
        kept = context.getPersistentRDDs()
        for key in set(kept.keySet()) - before:
            kept[key].unpersist(False)
        gc.collect()
