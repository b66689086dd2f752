"""The runs that are made: every scenario under its own seed, and seeds of those that draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lab.hosts.simulator.simulation import simulate
from lab.planning.resolve import default_seed, resolve
from lab.validation.library import scenario_paths
from lab.validation.validate import CheckedScenario, check

CHAOS = "chaos"


class World(NamedTuple):
    """One run."""

    scenario: str
    seed: int


def worlds(seeds: int) -> Iterator[World]:
    """In an order that spreads long ones over all parts."""
    found = _scenarios()
    for name in sorted(found):
        yield World(name, default_seed(name))
    for seed in range(1, seeds + 1):
        for name, each in sorted(found.items()):
            if CHAOS in each.scenario.tags:
                yield World(name, seed)


def simulate_one(world: World) -> None:
    each = _scenarios()[world.scenario]
    simulate(resolve(each.scenario, each.topology, world.seed), keeps_inputs=False)


_known: dict[str, CheckedScenario] = {}


def _scenarios() -> dict[str, CheckedScenario]:
    """By name; read once."""
    if not _known:
        for each in check(scenario_paths()).scenarios:
            _known[each.scenario.scenario] = each
    return _known
