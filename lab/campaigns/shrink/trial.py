"""Trials of a shrink: many small scenarios, each simulated and judged in a process of its own.

A trial is a scenario and a seed. What it comes to is the set of ways in which it fails: claims that
are violated, and servers that crash.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

from lab.campaigns.run import Run, carry
from lab.campaigns.simulating import simulating
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.run.simulated import run_name
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
    """Use it as a context: its processes live as long."""

    def __init__(self) -> None:
        self._ending = ExitStack()
        self._pool = self._ending.enter_context(simulating())

    def failures(self, trials: Sequence[Trial]) -> list[frozenset[str]]:
        """In which ways each of them fails; in none, if it passes or is none that can be run."""
        return list(self._pool.map(failures_of, [trial.plan() for trial in trials]))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.__exit__(kind, error, trace)


def failures_of(plan: Plan) -> frozenset[str]:
    name = run_name(plan)
    done = carry(Run(name, name, plan, partial(simulate, plan)))
    claims = done.result["claims"]
    violated = {each["name"] for each in claims if each["status"] == "violated"}
    return frozenset(violated | ({CRASH} if done.crashes else set()))
