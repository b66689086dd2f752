"""A new scenario validates at once, and takes nobody's place."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]
from ruamel.yaml import YAML

from lab.program.errors import ScenarioError
from lab.scenario.json_schema import schema
from lab.validation.new_scenario import SCHEMA_FILE, SCHEMA_LINE, new_scenario
from lab.validation.validate import check
from tests.lab.scenario.sample_scenario import SCENARIO, changed, write

SHIPPED = Path(__file__).resolve().parents[3] / "scenarios"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with one sound scenario, and the topologies that come with the lab."""
    scenarios = tmp_path / "scenarios"
    scenarios.mkdir()
    write(scenarios, SCENARIO)
    for topology in SHIPPED.glob("topologies/*.yaml"):
        (scenarios / "topologies" / topology.name).write_text(topology.read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_scenario_validates_at_once_and_explains_itself() -> None:
    path = new_scenario("two-die")
    assert path == Path("scenarios/two-die.yaml")
    found = check([path])
    assert (found.mistakes, found.warnings) == ((), ())
    assert found.scenarios[0].scenario.scenario == "two-die"
    assert path.read_text().count("#") > 10


def test_what_is_commented_out_in_it_is_right_too() -> None:
    path = new_scenario("two-die")
    text = path.read_text()
    offered = [line for line in text.splitlines() if line.startswith("  # - {")]
    assert len(offered) == 3
    kill = next(line for line in text.splitlines() if "kill: par-mbx1" in line)
    for line in offered:
        shown = line.replace("# - ", "- ")
        if "mail:" in line:
            path.write_text(text.replace(line, shown))
        else:
            path.write_text(text.replace(kill, shown))
        assert check([path]).mistakes == ()


def test_a_copy_keeps_everything_but_its_name() -> None:
    path = new_scenario("second", "sound")
    copied = changed(SCENARIO, "scenario: sound", "scenario: second")
    assert path.read_text() == f"{SCHEMA_LINE}\n{copied}"


def test_the_first_line_names_the_schema_that_lies_beside_it(here: Path) -> None:
    first = new_scenario("two-die").read_text().splitlines()[0]
    prefix, _, relative = first.partition("=")
    assert prefix == "# yaml-language-server: $schema"
    written = json.loads((here / "scenarios" / relative).read_text())
    assert written == schema("scenario")
    assert Draft7Validator(written).is_valid(YAML(typ="safe").load(Path("scenarios/two-die.yaml")))


def test_a_copy_of_a_copy_has_one_line_for_its_schema() -> None:
    new_scenario("second", "sound")
    assert new_scenario("third", "second").read_text().count("yaml-language-server") == 1


def test_a_schema_of_an_older_lab_is_renewed(here: Path) -> None:
    (here / "scenarios" / SCHEMA_FILE).write_text("{}")
    new_scenario("two-die")
    assert json.loads((here / "scenarios" / SCHEMA_FILE).read_text()) == schema("scenario")


@pytest.mark.parametrize("source", sorted(SHIPPED.glob("*/*.yaml")), ids=lambda path: path.stem)
def test_every_scenario_that_comes_with_the_lab_can_be_copied(source: Path) -> None:
    if source.parent.name != "topologies":
        new_scenario("copied", str(source))


def test_nothing_is_overwritten_and_no_name_given_twice(here: Path) -> None:
    deep = here / "scenarios/deep"
    deep.mkdir()
    (here / "scenarios/sound.yaml").rename(deep / "sound.yaml")
    with pytest.raises(ScenarioError, match=r"scenarios/deep/sound\.yaml is there already"):
        new_scenario("sound")
    (here / "scenarios/mine.yaml").write_text("mine")
    with pytest.raises(ScenarioError, match="is there already"):
        new_scenario("mine")
    assert (here / "scenarios/mine.yaml").read_text() == "mine"


@pytest.mark.parametrize("name", ["Two", "a b", "../out", "", "x.yaml"])
def test_a_name_is_made_of_small_letters_digits_and_hyphens(name: str, here: Path) -> None:
    with pytest.raises(ScenarioError, match="is no name for a scenario"):
        new_scenario(name)
    assert not (here / "out.yaml").exists()


def test_a_copy_of_what_has_mistakes_is_not_left_there(here: Path) -> None:
    write(here / "scenarios", changed(SCENARIO, "kind: stall", "kind: x"))
    with pytest.raises(ScenarioError, match=r"copied\.yaml:17:69: faults\[1\]\.cut\.kind"):
        new_scenario("copied", "sound")
    assert not (here / "scenarios/copied.yaml").exists()


@pytest.mark.parametrize("name", ["latest", "suites", "shrunk"])
def test_what_runs_calls_something_else_is_no_name(name: str) -> None:
    with pytest.raises(ScenarioError):
        new_scenario(name)


@pytest.mark.parametrize("name", ["latest", "suites", "shrunk"])
def test_a_scenario_of_such_a_name_is_a_mistake_since_it_would_run_in_another_run(
    here: Path, name: str
) -> None:
    text = changed(SCENARIO, "scenario: sound", f"scenario: {name}")
    path = write(here / "scenarios", text, name=name)
    [mistake] = check([path]).mistakes
    assert "is what runs/ calls something else" in str(mistake)


def test_the_topology_of_the_commented_one_is_found_where_a_project_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare" / "scenarios").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "bare")
    assert check([new_scenario("two-die")]).mistakes == ()
