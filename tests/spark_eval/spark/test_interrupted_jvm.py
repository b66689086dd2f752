"""A JVM that is coming up when a person ends the evaluation ends with it."""

import subprocess
import sys

import pytest
from pyspark import SparkConf

from spark_eval.spark import jvm

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("no port")], ids=repr)
def test_a_jvm_that_nobody_waits_for_any_more_is_ended(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def launch_gateway(conf: SparkConf, options: dict[str, int]) -> None:
        started.append(subprocess.Popen(SLEEP, **options))  # type: ignore[call-overload]
        raise error

    monkeypatch.setattr(jvm, "launch_gateway", launch_gateway)
    other = subprocess.Popen(SLEEP)
    try:
        with pytest.raises(type(error)):
            jvm.launch(SparkConf(loadDefaults=False))
        assert started[0].wait(10) < 0
        assert other.poll() is None
    finally:
        for program in (other, *started):
            program.kill()
            program.wait()
