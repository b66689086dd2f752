"""One Spark session for all tests of the evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

from spark_eval import __main__
from spark_eval.session import Purpose, session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Two cores, and one evaluation after another."""
    running = session("local[2]", "shadowlab tests", Purpose.RUNS)
    yield running
    running.stop()


@pytest.fixture
def run_main(spark: SparkSession) -> Callable[..., int]:
    """The program in this process, on the session of the tests."""
    return lambda *arguments: __main__.main([str(argument) for argument in arguments])
