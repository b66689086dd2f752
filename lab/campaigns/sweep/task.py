"""Seeds of one scenario, as a task of a sweep."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lab.campaigns.run import Keeping, Run
from lab.hosts.simulator.simulation import simulate
from lab.planning.resolve import resolve
from lab.run.simulated import run_name
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel


@dataclass(frozen=True, slots=True)
class SeedTask:
    """In order. `settings` are those that may be drawn, as sweep.json names them."""

    scenario: ScenarioModel
    topology: TopologyModel
    seeds: tuple[int, ...]
    keeping: Keeping | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def runs(self) -> Iterator[Run]:
        for seed in self.seeds:
            plan = resolve(self.scenario, self.topology, seed)
            called, name = f"seed {seed}", run_name(plan)
            yield Run(called, name, plan, partial(simulate, plan), self.keeping, self.settings)
