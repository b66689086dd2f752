"""Where settled tables are kept."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from spark_eval.session import Purpose, settings
from spark_eval.spark.released import released
from spark_eval.spark.settled import KEPT, settled


def test_a_large_runs_are_kept_out_of_memory() -> None:
    assert settings({}, purpose=Purpose.LARGE)[KEPT] == "DISK_ONLY"
    assert KEPT not in settings({}, purpose=Purpose.RUN)
    assert KEPT not in settings({}, purpose=Purpose.RUNS)


@pytest.mark.spark
def test_a_settled_table_is_kept_as_the_session_says(spark: SparkSession) -> None:
    spark.conf.set(KEPT, "DISK_ONLY")
    try:
        with released(spark):
            before = _kept(spark)
            rows = settled(spark.range(3))
            new = [level for key, level in _kept(spark).items() if key not in before]
            assert new == [(True, False)]
            assert sorted(row["id"] for row in rows.collect()) == [0, 1, 2]
    finally:
        spark.conf.unset(KEPT)


def _kept(spark: SparkSession) -> dict[int, tuple[bool, bool]]:
    """By number: on disk, in memory."""
    kept = spark.sparkContext._jsc.getPersistentRDDs()
    levels = {key: kept[key].getStorageLevel() for key in kept.keySet()}
    return {key: (level.useDisk(), level.useMemory()) for key, level in levels.items()}
