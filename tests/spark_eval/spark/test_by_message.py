"""A run that is judged message by message, by many tasks of Spark, leaves what it leaves when it is
judged whole.
"""

from __future__ import annotations

import gzip
import json
import operator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from spark_eval.evaluation import evaluation
from spark_eval.read.folder.run_folder import open_run_folder
from spark_eval.spread import by_message
from tests.scenarios.recorded import recorded, write_folder
from tests.spark_eval.runs.evaluated import evaluated

pytestmark = pytest.mark.spark

LEFT = ("verdict.json", "junit.xml", "report.html", "evaluation/report.json")


def test_a_large_run_leaves_what_a_small_one_does(spark: SparkSession, tmp_path: Path) -> None:
    """With a packed log; `tests/scenarios` judges every scenario in parts, without Spark."""
    files = recorded("lossy-failover", 7)
    folders = [write_folder(tmp_path / name / "run", files) for name in ("whole", "parts")]
    for folder in folders:
        _pack(next(folder.glob("logs/*/MSGTRK*")))
    evaluated(folders[0])
    with (
        patch.object(evaluation, "LARGE_BYTES", 0),
        patch.object(by_message, "BYTES_A_PART", 200_000),
    ):
        evaluation.evaluate(spark, [open_run_folder(folders[1])])
    whole, parts = folders
    for name in LEFT:
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
    tables = sorted(path.name for path in (whole / "evaluation").glob("*.parquet"))
    assert len(tables) > 10
    for table in tables:
        assert _rows(parts / "evaluation" / table) == _rows(whole / "evaluation" / table), table
    assert len(list((parts / "evaluation" / "messages.parquet").iterdir())) > 3


def test_where_the_judge_breaks_no_other_run_goes_with_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """On the driver; the next test is of what a task says."""
    files = recorded("calm", 7)
    broken, other = (write_folder(tmp_path / name / name, files) for name in ("broken", "other"))
    _rename(broken, "broken")
    folders = [open_run_folder(each) for each in (broken, other)]
    is_large, wrong = (lambda folder: folder.path == broken), KeyError("a bug")
    with (
        patch.object(evaluation, "is_large", is_large),
        patch.object(by_message, "run_of_parts", side_effect=wrong),
    ):
        found = evaluation.evaluate(spark, folders)
    assert [each.verdict.verdict for each in found] == ["unknown", "pass"]
    assert found[0].results["no_loss"].reason == "the check crashed: KeyError: 'a bug'"
    assert _rows(broken / "evaluation" / "messages.parquet") == []


def test_what_the_judge_raises_in_a_task_is_its_own(spark: SparkSession) -> None:
    numbers: Any = spark.sparkContext.parallelize([4, 0], 2)
    parts: Any = by_message.PartsInSpark(numbers, 2)
    with pytest.raises(by_message.JudgeBrokeError, match=r"^ZeroDivisionError: "):
        list(parts.each(operator.floordiv, 0))
    assert list(parts.each(operator.add, 1)) == [5, 1]


def _rename(folder: Path, run: str) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"run": run}))


def _pack(path: Path) -> None:
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def _rows(table: Path) -> list[Any]:
    return sorted(
        repr(row) for path in table.iterdir() for row in parquet.read_table(path).to_pylist()
    )
