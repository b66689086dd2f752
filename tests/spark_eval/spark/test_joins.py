"""Joins of what is in one piece: nothing is moved, so a job is a stage."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from spark_eval.evaluation.evaluation import evaluate
from spark_eval.read.run_folder import open_run_folder
from spark_eval.spark.joins import joined, small
from spark_eval.spark.partitions import SHUFFLES
from tests.spark_eval.runs.failover_runs import lossy


def test_an_evaluation_of_one_run_moves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()
    jobs, stages = scheduler.nextJobId(), scheduler.nextStageId()
    evaluate(spark, [open_run_folder(lossy().run.write(tmp_path))])
    jobs, stages = scheduler.nextJobId() - jobs, scheduler.nextStageId() - stages
    assert jobs > 0
    assert stages == jobs


def test_a_chain_of_inner_joins_moves_nothing(spark: SparkSession) -> None:
    rows = _rows(spark)
    chain = joined(rows, rows, "key").transform(joined, rows, "key")
    assert _exchanges(chain.groupBy("key").count()) == 0


def test_what_spark_would_move_without(spark: SparkSession) -> None:
    rows = _rows(spark)
    assert _exchanges(rows.join(rows, "key").join(rows, "key")) > 0


def test_a_small_table_is_given_to_all_where_there_are_several_pieces(spark: SparkSession) -> None:
    assert _hints(small(_rows(spark))) == 0
    spark.conf.set(SHUFFLES, "2")
    try:
        assert _hints(small(_rows(spark))) == 1
    finally:
        spark.conf.set(SHUFFLES, "1")


def _rows(spark: SparkSession) -> DataFrame:
    return spark.range(9).withColumnRenamed("id", "key").coalesce(1).localCheckpoint()


def _exchanges(rows: DataFrame) -> int:
    return str(rows._jdf.queryExecution().executedPlan().toString()).count("Exchange")


def _hints(rows: DataFrame) -> int:
    return str(rows._jdf.queryExecution().logical().toString()).count("UnresolvedHint")
