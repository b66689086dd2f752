"""What a person waits for whose run is judged alone: an evaluation as a program, with its JVM."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.judged_run import ROUNDS, judged_run
from bench.result import Result, alone, spread_of
from lab.program.errors import GroundError


def measure() -> Result:
    """Seconds of wall time; aim: 10. Raises GroundError where it reaches no verdict."""
    with judged_run() as folder:
        seconds = [seconds_to_judge(folder) for _ in range(ROUNDS)]
    against = f"232 messages, cold; aim 10; {spread_of(seconds)}"
    return alone("evaluate_seconds", statistics.median(seconds), "s", against)


def seconds_to_judge(folder: Path) -> float:
    """Wall time of the program. Raises GroundError where it reaches no verdict."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "spark_eval", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2):
        raise GroundError(f"the evaluation ended with {done.returncode}", done.stderr[-500:])
    return time.monotonic() - begun
