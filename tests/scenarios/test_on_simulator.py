"""Every scenario reaches the verdict that its file expects; a node built to break a promise is
found under every seed chosen for it, by the claim that is about it; one that keeps its promises
fails under no seed.
"""

from __future__ import annotations

import pytest

from lab.campaigns.run import Result
from lab.planning.resolve import default_seed
from tests.lab.hosts.simulator.plans import SCENARIOS
from tests.lab.hosts.simulator.plans import plan as scenario_plan
from tests.scenarios.batches import Judged, violated
from tests.scenarios.sets import (
    BROKEN,
    EVERY_LOST_DISK,
    EVERY_SINGLE_FAULT,
    MADE_UP,
    SOUND,
    Broken,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture
def results(judged: Judged) -> dict[str, list[Result]]:
    return judged.results


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_reaches_the_verdict_that_it_expects(
    name: str, results: dict[str, list[Result]]
) -> None:
    (result,) = results[name]
    assert (result["verdict"], result["reasons"]) == (result["foretold"], [])
    asked = {claim["name"]: claim["asked"] for claim in result["claims"]}
    messages = scenario_plan(name, default_seed(name)).messages
    assert asked["no_loss"] >= min(100, sum(len(each.recipients) for each in messages))


def test_a_run_is_judged_in_parts_as_it_is_whole(judged: Judged) -> None:
    """Every scenario, and one run of each broken node."""
    assert {name: found for name, found in judged.differences.items() if found} == {}


@pytest.mark.parametrize("name", SOUND)
def test_a_node_that_keeps_its_promises_fails_under_no_seed(
    name: str, results: dict[str, list[Result]]
) -> None:
    found = frozenset().union(*map(violated, results[name]))
    assert found == MADE_UP.get(name, frozenset())


@pytest.mark.fuzz
@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_node_that_breaks_one_is_found(broken: Broken, results: dict[str, list[Result]]) -> None:
    found = list(map(violated, results[broken.name]))
    assert broken.violates <= frozenset.intersection(*found)


def test_no_single_fault_takes_anything_from_a_node_that_keeps_its_promises(
    results: dict[str, list[Result]],
) -> None:
    found = results[EVERY_SINGLE_FAULT]
    assert {each["verdict"] for each in found} == {"pass"}
    assert len(found) > 100


def test_a_promise_that_hangs_on_one_moment_is_found_broken_by_a_fault_at_that_moment(
    results: dict[str, list[Result]],
) -> None:
    """Nothing is lost unless the server's disk goes between its 250 and the shadow."""
    lost = [each for each in results[EVERY_LOST_DISK] if "no_loss" in violated(each)]
    assert 0 < len(lost) < 20
    assert {each["foretold"] for each in lost} == {"pass"}
