"""Lines of files that are read in splits are those of files that are read whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from spark_eval.read.lines import read_lines
from spark_eval.read.split_lines import read_split_lines

from spark_eval.read.run_folder import RunFolder, open_run_folder
from tests.spark_eval.runs.run_builder import healthy

ODD = {
    "ledger.jsonl": b'\xef\xbb\xbf{}\r\n\n{"a": 1}\n \n{"torn": tru',
    "faults.jsonl": b"",
    "operations.jsonl": b"\n\n\n",
    "logs/par-mbx1/MSGTRKMA1.LOG": b"#Software: x\n#Fields: a,b\n1,2\n#Fields: c\n3\n",
    "logs/par-mbx1/MSGTRKMA2.LOG": b"1,2\n3,4",
    "logs/par-mbx1/MSGTRKMA3.LOG": b"#Fields: " + b"x," * 400 + b"y\n" + b"0123456789\n" * 300,
    "logs/par-mbx1/MSGTRKMA 4+5%.LOG": b"caf\xc3\xa9\n\xff\xfe\n   \n",
}


@pytest.fixture(params=[120, 2_000, 134_217_728])
def splits_of(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[int]:
    """How many bytes a split has: many splits a file, some, and one."""
    settings = {"maxPartitionBytes": request.param, "openCostInBytes": 1}
    for name, value in settings.items():
        spark.conf.set(f"spark.sql.files.{name}", value)
    yield request.param
    for name in settings:
        spark.conf.unset(f"spark.sql.files.{name}")


@pytest.fixture
def folders(tmp_path: Path) -> list[RunFolder]:
    """Two runs, one of them with everything that may be odd about a file."""
    calm, odd = healthy(), healthy()
    calm.name, odd.name = "calm", "odd"
    odd_folder = odd.write(tmp_path)
    for name, content in ODD.items():
        (odd_folder / name).write_bytes(content)
    return [open_run_folder(folder) for folder in (calm.write(tmp_path), odd_folder)]


@pytest.mark.usefixtures("splits_of")
@pytest.mark.parametrize("kind", ["records", "logs"])
@pytest.mark.parametrize("count", [1, 2])
def test_the_same_lines_with_the_same_numbers(
    spark: SparkSession, folders: list[RunFolder], kind: str, count: int
) -> None:
    chosen = folders[-count:]
    files = [path for folder in chosen for path in getattr(folder, kind)()]
    whole = _rows(read_lines(spark, chosen, files))
    assert len(whole) > 10
    assert _rows(read_split_lines(spark, chosen, files)) == whole


def _rows(lines: DataFrame) -> list[tuple[object, ...]]:
    names = ("run", "origin_ms", "file", "line", "fields", "text", "torn")
    return sorted(tuple(row) for row in lines.select(*names).collect())
