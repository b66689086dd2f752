"""The session of the evaluation's own tests, where both run in one process."""

from tests.spark_eval.conftest import spark

__all__ = ["spark"]
