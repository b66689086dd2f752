"""The session of the evaluation's own tests, where all of them run in one process."""

from tests.spark_eval.conftest import run_main, spark

__all__ = ["run_main", "spark"]
