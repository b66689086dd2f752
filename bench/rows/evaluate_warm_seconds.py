"""What a run of a suite waits for: the judge has judged runs before, as it has all night."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path
from unittest.mock import patch

from bench.judged_run import ROUNDS, judged_run
from bench.result import Result, alone, spread_of
from lab.program.errors import GroundError
from lab.run.judge import Judge
from lab.run.judgement import ask_judge

BEFORE = 5
"""Runs until it is warm."""


def measure() -> Result:
    """Seconds of wall time; aim: 2.5. Raises GroundError where it reaches no verdict."""
    with (
        judged_run() as folder,
        Judge(folder.parent / "judge.log") as judge,
        patch.dict(os.environ, judge.environment()),
    ):
        seconds = [_seconds(folder) for _ in range(BEFORE + ROUNDS)][BEFORE:]
    against = f"the same run after {BEFORE} in one session; aim 2.5; {spread_of(seconds)}"
    return alone("evaluate_warm_seconds", statistics.median(seconds), "s", against)


def _seconds(folder: Path) -> float:
    begun = time.monotonic()
    judged = ask_judge("evaluate", [str(folder)])
    if judged.code not in (0, 1, 2):
        raise GroundError(f"the evaluation ended with {judged.code}", judged.err[-500:])
    return time.monotonic() - begun
