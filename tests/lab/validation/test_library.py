"""A person's own scenarios come before the lab's, and hide those of the same name."""

from pathlib import Path

import pytest

from lab.program.errors import ScenarioError
from lab.program.sources import SCENARIOS
from lab.validation.library import files_of_scenarios, find_scenario, scenario_paths
from lab.validation.new_scenario import new_scenario
from lab.validation.validate import check, find_topology
from tests.lab.scenario.sample_scenario import SCENARIO, changed, write

SHIPPED = scenario_paths(SCENARIOS)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`scenarios/` where one stands, with a `sound` and a `calm`."""
    folder = tmp_path / "scenarios"
    folder.mkdir()
    write(folder, SCENARIO)
    write(folder, changed(SCENARIO, "scenario: sound", "scenario: calm"), name="calm")
    monkeypatch.chdir(tmp_path)
    return Path("scenarios")


def test_own_scenarios_are_found_first_and_then_those_of_the_lab(own: Path) -> None:
    assert find_scenario("calm") == own / "calm.yaml"
    assert find_scenario("sound") == own / "sound.yaml"
    assert find_scenario("site-cut") == SCENARIOS / "shadow" / "site-cut.yaml"


def test_each_name_is_listed_once_and_all_that_are_listed_are_sound_together(own: Path) -> None:
    names = [path.stem for path in scenario_paths()]
    assert names == sorted([*(path.stem for path in SHIPPED), "sound"])
    assert check(files_of_scenarios()).mistakes == ()


def test_an_own_topology_hides_that_of_the_lab(own: Path) -> None:
    name = "two-site-dag"
    (own / "topologies" / f"{name}.yaml").write_text("")
    assert find_topology(own / "calm.yaml", name) == (own / "topologies" / f"{name}.yaml").resolve()
    listed = [path for path in files_of_scenarios() if path.stem == name]
    assert listed == [own / "topologies" / f"{name}.yaml"]


def test_where_no_scenarios_lie_there_are_the_labs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert scenario_paths() == SHIPPED


def test_a_new_scenario_is_written_where_one_stands_whatever_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError):
        new_scenario("copied", "no-such-scenario")
    assert list(tmp_path.iterdir()) == []
    assert new_scenario("copied", "calm") == Path("scenarios/copied.yaml")
    assert check([Path("scenarios/copied.yaml")]).mistakes == ()
