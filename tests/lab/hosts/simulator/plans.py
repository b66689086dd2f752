"""Plans of the project's own scenarios, under any seed."""

from functools import cache

from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.validation.library import load_scenario, scenario_paths
from lab.validation.validate import CheckedScenario

SCENARIOS = tuple(path.stem for path in scenario_paths())


@cache
def scenario(name: str) -> CheckedScenario:
    found, mistakes = load_scenario(name)
    assert found is not None, mistakes
    return found


def plan(name: str, seed: int) -> Plan:
    checked = scenario(name)
    return resolve(checked.scenario, checked.topology, seed)
