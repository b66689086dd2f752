"""Run folders that a URI names: read and written through Spark's Hadoop, whatever is behind it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_eval.evaluation.remote import fetch
from spark_eval.read.folder.run_folder import RunFolderError, is_uri
from tests.spark_eval.runs.run_builder import healthy

Program = Callable[..., int]
MESSAGE = "m000001.calm.7@outside.example"


@pytest.fixture
def uri(tmp_path: Path) -> str:
    run = healthy()
    run.name = "calm +1 {a}"
    return f"file://{run.write(tmp_path)}"


def _there(uri: str) -> Path:
    return Path(uri.removeprefix("file://"))


def test_what_begins_with_a_scheme_is_a_uri() -> None:
    named = {name for name in ("s3a://b/k", "hdfs://n:1/r", "runs/x", "/a") if is_uri(name)}
    assert named == {"s3a://b/k", "hdfs://n:1/r"}


def test_a_folder_is_judged_where_it_is(
    run_main: Program, uri: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(uri) == 0
    assert f"report: {uri}/report.html" in capsys.readouterr().out
    folder = _there(uri)
    assert json.loads((folder / "verdict.json").read_text())["verdict"] == "pass"
    assert "PASS" in (folder / "report.html").read_text()
    assert list((folder / "evaluation" / "messages.parquet").glob("*.parquet"))
    (folder / "report.html").unlink()
    assert run_main(uri, "--report-only") == 0
    assert (folder / "report.html").is_file()


def test_a_story_is_told_of_a_folder_elsewhere(
    run_main: Program, uri: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(uri, "--story", MESSAGE) == 0
    assert "SMTP HARECEIVE" in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_a_wrong_call(
    run_main: Program, uri: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(_there(uri))
    assert run_main(uri) == 4
    assert "no such folder" in capsys.readouterr().err


def test_a_scheme_without_its_jars_is_said_with_the_package_that_has_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(RunFolderError) as refused:
        fetch(spark, "s3a://bucket/runs/calm", tmp_path)
    assert "no file system s3a" in refused.value.cause
    assert "org.apache.hadoop:hadoop-aws:" in refused.value.hint
