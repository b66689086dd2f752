"""The same verdict on a cluster as on one machine, also when a worker is lost in the middle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow
import pytest

from bench.cluster import Cluster
from spark_eval.evaluation.evaluation import LARGE_BYTES
from spark_eval.spark.class_archive import sharing
from tests.spark_eval.runs.run_builder import healthy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[3]
DEADLINE_SECONDS = 600.0
# little to compute, by JVMs that live for a minute: the better compiler would take most of it
QUICKLY = " ".join(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *sharing()])
GIVEN = {"spark.driver.extraJavaOptions": QUICKLY, "spark.executor.extraJavaOptions": QUICKLY}
LEFT = ("junit.xml", "report.html", "evaluation/report.json")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """With the libraries that are installed here, and without this checkout, which is installed by
    a `.pth` file.
    """
    script, libraries = tmp_path / "python", Path(pyarrow.__file__).parents[1]
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{libraries}" exec "{sys.executable}" -S "$@"\n'
    )
    script.chmod(0o755)
    found = subprocess.run(
        [script, "-c", "import pyarrow, spark_eval"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "No module named 'spark_eval'" in found.stderr
    return script


def test_a_cluster_reaches_the_same_verdict_by_the_sources_that_go_along(
    cluster: Cluster, bare_python: Path, run_main: Callable[..., int], tmp_path: Path
) -> None:
    alone, spread = (healthy().write(tmp_path / where) for where in ("alone", "cluster"))
    judging = started("spark_eval", str(spread), "--master", cluster.url, python=bare_python)
    assert judging.wait(DEADLINE_SECONDS) == 0
    assert run_main(alone) == 0
    for name in (*LEFT, "verdict.json"):
        assert (spread / name).read_bytes() == (alone / name).read_bytes()


@pytest.mark.parametrize(
    ("large_bytes", "scheme"), [(LARGE_BYTES, ""), (0, "file://")], ids=["by_run", "by_message"]
)
def test_a_worker_lost_in_the_middle_changes_no_verdict(
    large_bytes: int, scheme: str, cluster: Cluster, run_main: Callable[..., int], tmp_path: Path
) -> None:
    """A large one is read from where a URI says."""
    alone, spread = (healthy().write(tmp_path / where) for where in ("alone", "cluster"))
    waiting = tmp_path / "waiting"
    judging = started(
        "tests.spark_eval.spark.waiting_claim", cluster.url, str(waiting), f"{scheme}{spread}",
        str(large_bytes),
        python_path=str(ROOT),
    )  # fmt: skip
    try:
        cluster.kill_worker(cluster.worker_of(task_under_way(waiting, judging)))
        waiting.with_suffix(".go").touch()
        assert judging.wait(DEADLINE_SECONDS) == 0
    finally:
        judging.kill()
    assert run_main(alone) == 0
    lost, whole = (json.loads((each / "verdict.json").read_text()) for each in (spread, alone))
    asked = [claim for claim in lost["claims"] if claim["name"] != "waits"]
    assert asked == whole["claims"]
    assert lost["verdict"] == whole["verdict"] == "pass"


def started(
    module: str, *words: str, python: Path = Path(sys.executable), python_path: str = ""
) -> subprocess.Popen[bytes]:
    """`python` is the workers', `python_path` what theirs finds besides."""
    given = " ".join(f"--conf '{key}={value}'" for key, value in GIVEN.items())
    if python_path:
        given += f" --conf 'spark.executorEnv.PYTHONPATH={python_path}'"
    return subprocess.Popen(
        [sys.executable, "-m", module, *words],
        cwd=ROOT,
        env=os.environ
        | {"PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell", "PYSPARK_PYTHON": str(python)},
    )


def task_under_way(waiting: Path, judging: subprocess.Popen[bytes]) -> int:
    """The process that it is in."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (waiting.exists() and waiting.read_text()):
        assert judging.poll() is None, "it ended before anything was lost"
        assert time.monotonic() < deadline, "no task began"
        time.sleep(0.05)
    return int(waiting.read_text())
