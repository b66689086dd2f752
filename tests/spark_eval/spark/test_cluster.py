"""The same verdict on a cluster as on one machine, also when a worker is lost in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.cluster import Cluster
from spark_eval.spark.class_archive import sharing
from tests.spark_eval.runs.run_builder import healthy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

DEADLINE_SECONDS = 600.0
# little to compute, by JVMs that live for a minute: the better compiler would take most of it
QUICKLY = " ".join(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *sharing()])
GIVEN = {
    "spark.driver.extraJavaOptions": QUICKLY,
    "spark.executor.extraJavaOptions": QUICKLY,
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
EVALUATE = (sys.executable, "-m", "spark_eval")
LEFT = ("verdict.json", "junit.xml", "report.html", "evaluation/report.json")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


def test_a_worker_lost_in_the_middle_changes_no_verdict(
    cluster: Cluster, run_main: Callable[..., int], tmp_path: Path
) -> None:
    run = healthy()
    alone = run.write(tmp_path / "alone")
    lossy = run.write(tmp_path / "cluster")
    judging = evaluated(lossy, "--master", cluster.url)
    try:
        wait_for_tables(lossy, judging)
        cluster.kill_worker(0)
        assert judging.wait(DEADLINE_SECONDS) == 0
    finally:
        judging.kill()
    assert run_main(alone) == 0
    for name in LEFT:
        assert (lossy / name).read_bytes() == (alone / name).read_bytes()
    assert not (lossy / "evaluation" / "checkpoints").exists()


def evaluated(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    given = " ".join(f"--conf '{key}={value}'" for key, value in GIVEN.items())
    return subprocess.Popen(
        [*EVALUATE, str(folder), *options],
        env=os.environ | {"PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell"},
    )


def wait_for_tables(folder: Path, judging: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not list(folder.glob("evaluation/*.parquet/_SUCCESS")):
        assert judging.poll() is None, "it ended before anything was lost"
        assert time.monotonic() < deadline, "no table was written"
        time.sleep(0.1)
