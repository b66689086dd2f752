"""A sweep towards coverage chooses seeds by their plans: those that promise what was met least."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from lab.campaigns.batches import Batch
from lab.campaigns.sweep.asked_coverage import kinds_asked, settings_asked, value_parts
from lab.campaigns.sweep.sweep import Seeds, Sweep, sweep_folder
from lab.campaigns.sweep.task import SeedTask
from lab.campaigns.sweep.toward import Toward
from lab.campaigns.sweep.toward_coverage import CANDIDATES, Choice, promised
from lab.planning.resolve import resolve
from lab.validation.validate import CheckedScenario
from tests.lab.hosts.simulator.plans import scenario

DRAWN = "drawn-settings"


def promises(checked: CheckedScenario, seeds: Iterable[int]) -> set[tuple[str, str, str]]:
    """Phase, kind and part that the plans of these seeds promise."""
    found = set()
    for seed in seeds:
        plan = resolve(checked.scenario, checked.topology, seed)
        parts = value_parts(checked.scenario, seed)
        found |= {(*pair, part) for pair in promised(plan) for part in parts}
    return found


def test_chosen_seeds_promise_more_than_as_many_by_chance() -> None:
    checked = scenario(DRAWN)
    chosen = Choice(checked).choose(range(200), 20)
    assert len(set(chosen)) == 20
    assert len(promises(checked, chosen)) > 1.15 * len(promises(checked, range(20)))


def test_a_later_round_chooses_what_earlier_ones_do_not_promise() -> None:
    checked = scenario(DRAWN)
    choice = Choice(checked)
    first = choice.choose(range(60), 6)
    second = choice.choose(range(60, 120), 6)
    anew = Choice(checked).choose(range(60, 120), 6)
    assert second != anew
    together = promises(checked, [*first, *second])
    assert len(together) >= len(promises(checked, [*first, *anew]))


def test_the_same_call_chooses_the_same_seeds() -> None:
    checked = scenario(DRAWN)
    assert Choice(checked).choose(range(50), 5) == Choice(checked).choose(range(50), 5)


def test_where_all_are_wanted_all_are_chosen_once() -> None:
    assert Choice(scenario("cuts-only")).choose(range(4, 9), 5) == [4, 5, 6, 7, 8]


def test_a_plan_without_faults_promises_nothing() -> None:
    calm = scenario("calm")
    assert promised(resolve(calm.scenario, calm.topology, 1)) == set()


def test_a_plan_promises_a_fault_at_the_server_that_takes_the_mail() -> None:
    lost = scenario("primary-loses-its-queue-database")
    found = promised(resolve(lost.scenario, lost.topology, 1))
    assert {("submitting", "kill"), ("queued", "kill"), ("in-safety-net", "kill")} <= found
    assert {kind for _, kind in found} == {"kill", "cut-ack-lost", "cut-refuse"}


def test_a_plan_promises_the_direction_of_a_fault_that_has_one() -> None:
    late = scenario("over-an-asymmetric-route")
    found = promised(resolve(late.scenario, late.topology, 1))
    assert {kind for _, kind in found} == {"slow-replies"}
    assert kinds_asked(late.scenario, late.topology) == ["slow-replies"]


def batches(folder: Path, toward: Toward | None) -> list[Batch]:
    return list(Sweep(scenario(DRAWN), Seeds(5, 6, 3), folder, "local[1]", toward=toward).batches())


def seeds_of(found: list[Batch]) -> list[list[int]]:
    tasks = [[t for t in each.tasks() if isinstance(t, SeedTask)] for each in found]
    return [[seed for task in each for seed in task.seeds] for each in tasks]


def test_each_batch_has_candidates_of_its_own_and_its_seeds_are_written_down(
    tmp_path: Path,
) -> None:
    first, second = seeds_of(batches(tmp_path, Toward.coverage))
    assert set(first) <= set(range(5, 5 + 3 * CANDIDATES))
    assert set(second) <= set(range(5 + 3 * CANDIDATES, 5 + 6 * CANDIDATES))
    assert (len(first), len(second)) == (3, 3)
    told = [(tmp_path / "seeds" / f"batch=0000{n}.json").read_text() for n in range(2)]
    assert [[int(word) for word in each.strip("[] \n").split(",")] for each in told] == [
        first, second,
    ]  # fmt: skip


def test_without_a_direction_seeds_follow_each_other(tmp_path: Path) -> None:
    assert seeds_of(batches(tmp_path, None)) == [[5, 6, 7], [8, 9, 10]]
    assert not (tmp_path / "seeds").exists()


def test_a_sweep_towards_coverage_is_another_sweep(tmp_path: Path) -> None:
    checked, seeds = scenario("calm"), Seeds(0, 4, 2)
    aimed = sweep_folder(tmp_path, checked, seeds, Toward.coverage)
    assert aimed != sweep_folder(tmp_path, checked, seeds)


def test_what_may_be_met_is_said_beside_the_plan() -> None:
    checked = scenario(DRAWN)
    asked = settings_asked(checked.scenario, checked.topology)
    name = "TransportConfig.RejectMessageOnShadowFailure"
    assert asked[name] == {
        "path": "$.settings.TransportConfig.RejectMessageOnShadowFailure",
        "parts": [
            {"name": "false", "low": "false", "high": "false"},
            {"name": "true", "low": "true", "high": "true"},
        ],
    }
    paths = {each["path"] for each in asked.values()}
    assert "$.topology.databases[0].duplicate_detection_window_ms" in paths
    assert "$.settings.servers['par-mbx1'].TransportService.QueueGlitchRetryCount" in paths
    kinds = kinds_asked(checked.scenario, checked.topology)
    assert {"cut-stall", "cut-refuse", "kill", "failover", "fill_disk"} <= set(kinds)
    assert {"slow-both", "slow-requests", "slow-replies"} <= set(kinds)
    assert not {"cut", "split"} & set(kinds)


@pytest.mark.parametrize("name", [DRAWN, "cuts-only"])
def test_every_draw_lies_in_a_part(name: str) -> None:
    checked = scenario(name)
    asked = settings_asked(checked.scenario, checked.topology)
    for seed in range(40):
        assert len(value_parts(checked.scenario, seed)) == len(asked)
