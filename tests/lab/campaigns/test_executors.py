"""What is said when Spark does not start, or its executors fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[3]
# a number is no task
PROGRAM = """
from lab.campaigns.sweep.executors import run_tasks
from lab.program.errors import GroundError, print_error
try:
    run_tasks("local[1]", [0])
except GroundError as error:
    print_error(error)
"""

# in Py4J's words
CALLS_IN_VAIN = """
from unittest.mock import Mock
from lab.campaigns.sweep import executors
executors.session = Mock(side_effect=lambda *_: Mock(sparkContext=Mock(parallelize=called)))
def called(*_):
    raise RuntimeError(
        "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collect.\\n"
        ": org.apache.spark.SparkException: Job 1 cancelled because SparkContext was shut down\\n"
        "\\tat org.apache.spark.scheduler.DAGScheduler.cleanUpAfterSchedulerStop"
    )
"""


def _said(program: str = PROGRAM, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=False, cwd=SOURCES, env=os.environ | environment,
    )  # fmt: skip
    return done.stderr.splitlines()


@pytest.mark.spark
def test_what_a_task_raised_is_the_cause() -> None:
    assert _said() == [
        "shadowlab: the executors could not do their work: "
        "AttributeError: 'int' object has no attribute 'runs'",
        "hint: what is done is kept, the same command goes on",
    ]


def test_what_spark_threw_is_the_cause_and_not_the_call_of_it() -> None:
    program = PROGRAM.replace("try:", CALLS_IN_VAIN + "try:", 1)
    assert _said(program)[0] == (
        "shadowlab: the executors could not do their work: "
        "org.apache.spark.SparkException: Job 1 cancelled because SparkContext was shut down"
    )


@pytest.mark.spark
def test_java_is_the_hint_where_spark_does_not_start() -> None:
    said = _said(JDK_JAVA_OPTIONS="-XX:NoSuchOption")
    cause, hint = said[-2:]
    assert cause.startswith("shadowlab: Spark does not start: ")
    assert "executors" not in cause
    assert hint.startswith("hint: Spark needs Java 17")
