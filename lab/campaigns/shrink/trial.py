"""Trials of a shrink: many small scenarios simulated and judged together, by the evaluation itself.

A trial is a scenario and a seed. What it comes to is the set of ways in which it fails: claims that
are violated, and servers that crash. The trials of a round are one batch of a sweep folder that
lives as long as the shrink.
"""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from lab.campaigns.simulating import simulating
from lab.campaigns.sweep.judge import SweepJudge
from lab.campaigns.sweep.task import Lines, files_of
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.program.whole_file import write_whole
from lab.record.folder import json_text
from lab.validation.validate import CheckedScenario

CRASH = "crash"


@dataclass(frozen=True, slots=True)
class Trial:
    """One scenario under one seed."""

    scenario: CheckedScenario
    seed: int

    def plan(self) -> Plan:
        return resolve(self.scenario.scenario, self.scenario.topology, self.seed)


class Trials:
    """Use it as a context: the evaluation is up as long as it lasts. `folder` is empty."""

    def __init__(self, folder: Path, master: str) -> None:
        self._folder = folder
        self._rounds = 0
        about = {"version": 1, "scenario": "shrink", "first_seed": 0, "seeds": 0, "per_batch": 0}
        origin = {"origin": "2026-01-05T08:00:00Z"}
        write_whole(folder / "sweep.json", json_text({**about, **origin}))
        self._judge = SweepJudge(folder, master=master, small_batches=True)
        self._ending = ExitStack()
        self._ending.push(self._judge)
        self._pool = self._ending.enter_context(simulating())

    def failures(self, trials: Sequence[Trial]) -> list[frozenset[str]]:
        """In which ways each of them fails; in none, if it passes. Raises GroundError."""
        batch = f"batch={self._rounds:05}"
        self._rounds += 1
        plans = [trial.plan() for trial in trials]
        records = list(self._pool.map(_simulated, plans))
        self._write(batch, plans, records)
        self._judge.judge_now(batch)
        violated = self._violated(batch)
        return [
            frozenset(violated[f"t{number}"] | ({CRASH} if record.crashes else set()))
            for number, record in enumerate(records)
        ]

    def _write(self, batch: str, plans: Sequence[Plan], records: Sequence[RecordInMemory]) -> None:
        folder = self._folder / "record" / batch
        folder.mkdir(parents=True)
        lines = Lines()
        for number, (plan, record) in enumerate(zip(plans, records, strict=True)):
            for file, texts in files_of(plan, record):
                lines.add(f"t{number}", plan.seed, file, texts)
        lines.write(folder / "trials.parquet")
        (folder / "_SUCCESS").touch()

    def _violated(self, batch: str) -> dict[str, set[str]]:
        rows = (self._folder / "results" / f"{batch}.jsonl").read_text("utf-8").splitlines()
        return {
            row["run"]: {each["name"] for each in row["claims"] if each["status"] == "violated"}
            for row in map(json.loads, rows)
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.__exit__(kind, error, trace)


def _simulated(plan: Plan) -> RecordInMemory:
    return simulate(plan, keeps_inputs=False)
