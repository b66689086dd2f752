"""One Spark session for all tests of the evaluation, and a way to ask one claim of many runs at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from pyspark.sql import SparkSession

from spark_eval import __main__
from spark_eval.claims.claim import Claim, ClaimResult
from spark_eval.expected.tables import Tables
from spark_eval.read.record import Record
from spark_eval.read.run_folder import open_run_folder
from spark_eval.read.source import Folders
from spark_eval.session import Purpose, session
from tests.spark_eval.runs.run_builder import Run

Ask = Callable[[Claim, Mapping[str, Run]], dict[str, ClaimResult]]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Two cores, and one evaluation after another."""
    running = session("local[2]", "shadowlab tests", Purpose.RUNS)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def ask(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Writes the runs, evaluates them together, and gives the claim's result by the run's name."""

    def asked(claim: Claim, runs: Mapping[str, Run]) -> dict[str, ClaimResult]:
        root = tmp_path_factory.mktemp(claim.name)
        folders = []
        for name, run in runs.items():
            run.name = name
            folders.append(open_run_folder(run.write(root)))
        found = claim.check(Tables(Record(Folders(spark, folders))))
        return {name: found.get(name, claim.nothing_asked()) for name in runs}

    return asked


@pytest.fixture
def run_main(spark: SparkSession) -> Callable[..., int]:
    """The program in this process, on the session of the tests."""
    return lambda *arguments: __main__.main([str(argument) for argument in arguments])
