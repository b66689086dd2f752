"""A table that many others are made from: computed once, and cut loose from how it was made.

Spark plans every query from its first source on, and sends the whole of that to each task; for
small tables this costs far more than running it. A settled table is computed at once and looks like
a source to whatever follows. On one machine it is kept there, in memory as long as there is room or
on its disk, as the session says; on a cluster it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar, overload

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from spark_eval.spark.checkpoints import are_written
from spark_eval.spark.partitions import together

KEPT = "spark.shadowlab.settled.storageLevel"  # one of Spark's names, as `DISK_ONLY`

Owner = TypeVar("Owner")
Made = TypeVar("Made")


def settled(rows: DataFrame) -> DataFrame:
    """The same rows, computed."""
    if are_written(rows.sparkSession):
        return rows.checkpoint()
    return together(rows).localCheckpoint(storageLevel=_kept(rows.sparkSession))


def _kept(spark: SparkSession) -> StorageLevel | None:
    """How they are kept; None: as Spark keeps them, in memory and what has no room on disk."""
    name = spark.conf.get(KEPT, None)
    return None if name is None else getattr(StorageLevel, name)


class on_demand(Generic[Owner, Made]):
    """An attribute that is made when it is first asked for, by one thread; others wait for it.

    So whoever asks one claim computes what that claim needs, and nothing is computed twice.
    """

    def __init__(self, make: Callable[[Owner], Made]) -> None:
        self.make = make
        self.lock = RLock()

    def __set_name__(self, owner: type[Owner], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, owner: None, kind: type[Owner]) -> on_demand[Owner, Made]: ...

    @overload
    def __get__(self, owner: Owner, kind: type[Owner]) -> Made: ...

    def __get__(self, owner: Owner | None, kind: type[Owner]) -> on_demand[Owner, Made] | Made:
        if owner is None:
            return self
        with self.lock:
            if self.name not in owner.__dict__:
                owner.__dict__[self.name] = self.make(owner)
            made: Made = owner.__dict__[self.name]
            return made
