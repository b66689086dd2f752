"""Plans of the project's own scenarios, under any seed."""

from functools import cache

from lab.plan import Plan, resolve
from lab.scenario_files import load_scenario
from lab.validate import CheckedScenario

SCENARIOS = (
    "calm",
    "discard-notifications-survive",
    "primary-loses-its-queue-database",
    "primary-returns-after-promotion",
    "primary-returns-in-time",
    "shadow-unreachable-accepted",
    "shadow-unreachable-rejected",
    "site-cut",
)


@cache
def scenario(name: str) -> CheckedScenario:
    found, mistakes = load_scenario(name)
    assert found is not None, mistakes
    return found


def plan(name: str, seed: int) -> Plan:
    checked = scenario(name)
    return resolve(checked.scenario, checked.topology, seed)
