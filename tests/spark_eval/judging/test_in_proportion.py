"""Judging takes work in proportion to what is judged: a group may have thousands of members."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from spark_eval.judging.judge import histories_of, tallies
from spark_eval.read.folder.files import FolderFiles
from tests.spark_eval.runs import failover_runs
from tests.spark_eval.runs.run_builder import MINUTE, Run, user

FEW, MANY = 100, 300


def run_to(recipients: int) -> Run:
    """A message to so many, delivered into a database with two copies."""
    names = [user(number) for number in range(1, recipients + 1)]
    run = failover_runs.with_two_copies()
    run.plan["topology"]["mailboxes"] = [{"address": name, "database": "DB1"} for name in names]
    message = failover_runs.bring(run, 2 * MINUTE, to=names)
    failover_runs.see(run, message, 2 * MINUTE + 1000)
    return run


def lines_of_judging(run: Run, folder: Path) -> int:
    """How many lines of the judge are run through, comprehensions by each turn."""
    files, count = FolderFiles(run.write(folder)), 0

    def traced(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return traced if "/spark_eval/" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        tallies(histories_of(files))
    finally:
        sys.settrace(before)
    return count


def test_a_message_to_three_times_as_many_takes_three_times_the_work(tmp_path: Path) -> None:
    few, many = (lines_of_judging(run_to(count), tmp_path / str(count)) for count in (FEW, MANY))
    assert many < 1.1 * MANY / FEW * few
