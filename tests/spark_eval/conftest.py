"""One Spark session for all tests of the evaluation.

Its JVM has room, so that it seldom collects garbage. It has the better compiler, as one run after
another has: with that of a single run it would be done sooner with the first tests, and later with
all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from unittest.mock import patch

import pytest
from pyspark.sql import SparkSession

from spark_eval import __main__
from spark_eval.session import JAVA, ON_ONE_MACHINE, ONE_AFTER_ANOTHER, Purpose, session

ROOM = {"spark.driver.memory": "3g"}
YOUNG = (*ONE_AFTER_ANOTHER, "-Xms2g", "-Xmn1g")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Two cores, and one evaluation after another."""
    with patch.dict(JAVA, {Purpose.RUNS: YOUNG}), patch.dict(ON_ONE_MACHINE, ROOM):
        running = session("local[2]", "shadowlab tests", Purpose.RUNS)
    yield running
    running.stop()


@pytest.fixture
def run_main(spark: SparkSession) -> Callable[..., int]:
    """The program in this process, on the session of the tests."""
    return lambda *arguments: __main__.main([str(argument) for argument in arguments])
