"""Simulated runs of sound and of broken nodes, judged together as a batch of a sweep."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lab.campaigns.shrink.trial import Trial
from lab.campaigns.sweep.judge import SweepJudge
from lab.campaigns.sweep.task import Lines, Run, files_of
from lab.hosts.simulator.simulation import simulate
from lab.record.folder import json_text

NAME = "batch=00000"
# with twice as many runs as a batch of a sweep it would collect garbage for a sixth of the time
ROOM = "--conf spark.driver.memory=4g pyspark-shell"
ORIGIN = "2026-01-05T08:00:00Z"
Result = dict[str, Any]
"""As a sweep keeps one: `verdict`, `reasons`, `foretold`, `claims`, …"""


def run_of(trial: Trial) -> Run:
    plan = trial.plan()
    return Run(
        f"seed {trial.seed}", plan.scenario, plan, partial(simulate, plan, keeps_inputs=False)
    )


class Batch:
    """`folder` is empty. Simulate as many sets of runs as there are, then judge once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._record = folder / "record" / NAME
        self._record.mkdir(parents=True)
        self._sizes: dict[str, int] = {}

    def simulate(self, name: str, runs: Iterable[Run]) -> None:
        """In this process, so that a node that is broken in it is the one that is simulated."""
        lines, count = Lines(), 0
        for count, run in enumerate(runs, start=1):
            for file, texts in files_of(run.plan, run.simulate()):
                lines.add(f"{name}/{count - 1}", run.plan.seed, file, texts)
        lines.write(self._record / f"{len(self._sizes)}.parquet")
        self._sizes[name] = count

    def judge(self) -> dict[str, list[Result]]:
        """By name of a set, in the order of its runs."""
        runs = sum(self._sizes.values())
        about = {"version": 1, "scenario": "trials", "first_seed": 0, "seeds": runs}
        content = json_text({**about, "per_batch": runs, "origin": ORIGIN})
        (self._folder / "sweep.json").write_text(content)
        (self._record / "_SUCCESS").touch()
        with patch.dict(os.environ, PYSPARK_SUBMIT_ARGS=ROOM):
            judge = SweepJudge(self._folder, "local[2]")
        with judge:
            judge.judge_now(NAME)
        lines = (self._folder / "results" / f"{NAME}.jsonl").read_text("utf-8").splitlines()
        found = {row["run"]: row for row in map(json.loads, lines)}
        return {
            name: [found[f"{name}/{number}"] for number in range(size)]
            for name, size in self._sizes.items()
        }


def violated(result: Result) -> frozenset[str]:
    """Names of claims."""
    return frozenset(each["name"] for each in result["claims"] if each["status"] == "violated")
