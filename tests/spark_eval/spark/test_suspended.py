"""A program that was suspended, by Ctrl-Z or with its machine, goes on where it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[3]
LONGER_THAN_IT_IS_AWAY = 3
# an executor that is silent for as long is given up, by whoever looks every tenth of a second
SILENT_SECONDS = 2
CONF = (
    f"--conf spark.network.timeout={SILENT_SECONDS}s --conf spark.network.timeoutInterval=100ms "
    f"--conf spark.executor.heartbeatInterval={SILENT_SECONDS * 1000 - 100}ms pyspark-shell"
)
PROGRAM = f"""
import time
from spark_eval.session import session
spark = session()
print("begun", flush=True)
until = time.monotonic() + {SILENT_SECONDS + LONGER_THAN_IT_IS_AWAY}
while time.monotonic() < until:
    assert spark.range(9).selectExpr("sum(id)").first()[0] == 36
print("done", flush=True)
"""


@pytest.mark.spark
def test_a_session_that_was_suspended_goes_on() -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=SOURCES,
        env=os.environ | {"PYSPARK_SUBMIT_ARGS": CONF},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert program.stdout is not None
    assert program.stdout.readline() == "begun\n"
    os.killpg(program.pid, signal.SIGSTOP)
    time.sleep(2 * SILENT_SECONDS)
    os.killpg(program.pid, signal.SIGCONT)
    assert program.communicate() == ("done\n", "")
