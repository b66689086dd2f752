"""What there is, listed: scenarios with what they ask, runs with what became of them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.run.history import run_lines, scenario_lines
from lab.validation.library import scenario_paths
from lab.validation.requirement_list import NOT_CHECKED, naming_scenarios, requirement_lines
from tests.lab.scenario.sample_scenario import SCENARIO, changed, write


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with one sound scenario and one that is not."""
    scenarios = tmp_path / "scenarios"
    scenarios.mkdir()
    write(scenarios, SCENARIO)
    wrong = changed(SCENARIO, "kind: stall", "kind: x")
    write(scenarios, changed(wrong, "scenario: sound", "scenario: wrong"), name="wrong")
    monkeypatch.setattr("lab.validation.validate.SCENARIOS", scenarios)  # the lab has no more
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(here: Path, name: str, verdict: str | None, host: dict[str, object] | None) -> Path:
    folder = here / "runs/sound" / name
    folder.mkdir(parents=True)
    manifest = {"run": "r", "host": "simulator", "seed": 7}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    if verdict is not None:
        (folder / "verdict.json").write_text(json.dumps({"verdict": verdict}))
    if host is not None:
        (folder / "host.json").write_text(json.dumps(host))
    return folder


def test_a_scenario_is_listed_with_its_time_tags_summary_and_what_it_proves() -> None:
    assert list(scenario_lines()) == [
        "sound  31 s      nightly",
        "    Nothing is wrong with this file.",
        "    proves SR-1, SM-7",
        "wrong  has mistakes: shadowlab validate scenarios/wrong.yaml",
    ]


def test_a_scenario_with_a_mistake_elsewhere_still_says_what_it_proves() -> None:
    assert naming_scenarios(scenario_paths()) == {
        "SR-1": ["sound", "wrong"],
        "SM-7": ["sound", "wrong"],
    }


@pytest.mark.parametrize("proves", ["proves: 7", "proves: {SR-1: x}", "proves: [", ""])
def test_a_scenario_that_says_it_in_no_list_proves_nothing(tmp_path: Path, proves: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(proves)
    assert naming_scenarios([path]) == {}


def test_a_requirement_that_no_claim_checks_says_so_and_what_is_not_built() -> None:
    lines = list(requirement_lines({}))
    [at] = [number for number, line in enumerate(lines) if line.startswith("TP-1 ")]
    assert lines[at + 1 : at + 3] == [
        f"       {NOT_CHECKED}",
        "       not built yet: `hub2010`, `edge2010` and `mailbox2010`",
    ]


def test_how_many_requirements_no_claim_checks_is_said_last() -> None:
    lines = list(requirement_lines({}))
    alone = [line for line in lines if line.strip() == NOT_CHECKED]
    requirements = sum(1 for line in lines if not line.startswith(" ")) - 1
    assert lines[-1] == f"checked by no claim yet: {len(alone)} of {requirements} requirements"


def test_a_requirement_of_many_scenarios_names_a_few() -> None:
    lines = list(requirement_lines({"SM-6": ["a", "b", "c", "d", "e"]}))
    assert "; scenarios: a, b, c and 2 more" in "\n".join(lines)


def test_runs_are_listed_newest_first_with_host_seed_and_verdict(here: Path) -> None:
    run(here, "20260105T080000Z-7", "pass", {"cause": ""})
    latest = run(here, "20260106T080000Z-7", None, {"cause": "no engine"})
    run(here, "20260104T080000Z-7", None, None)
    (here / "runs/sound/latest").symlink_to(latest.name)
    (here / "runs/latest").symlink_to("sound")
    assert list(run_lines(Path("runs"))) == [
        "runs/sound/20260106T080000Z-7  simulator   7         -        no engine",
        "runs/sound/20260105T080000Z-7  simulator   7         pass",
        "runs/sound/20260104T080000Z-7  simulator   7         -        under way, or killed",
    ]


def test_where_nothing_ran_nothing_is_listed() -> None:
    assert list(run_lines(Path("runs"))) == []


def test_a_damaged_run_is_listed_all_the_same(here: Path) -> None:
    folder = run(here, "20260105T080000Z-7", "pass", {})
    (folder / "manifest.json").write_text("{")
    (folder / "verdict.json").write_text("[]")
    [line] = run_lines(Path("runs"))
    assert line.split()[1:] == ["?", "?", "-"]


def spoilt_files() -> dict[str, Callable[[Path], object]]:
    return {
        "a FIFO": os.mkfifo,
        "a link to itself": lambda path: path.symlink_to(path.name),
        "a device that never ends": lambda path: path.symlink_to("/dev/zero"),
        "a folder": Path.mkdir,
        "nested deep": lambda path: path.write_text("[" * 100_000),
        "a number too long": lambda path: path.write_text('{"seed": ' + "9" * 5000 + "}"),
        "a number beyond all": lambda path: path.write_text('{"seed": 1e999}'),
        "no UTF-8": lambda path: path.write_bytes(b'{"seed": "\xff"}'),
    }


@pytest.mark.timeout(20)
@pytest.mark.parametrize("spoil", spoilt_files().values(), ids=spoilt_files())
@pytest.mark.parametrize("name", ["manifest.json", "host.json", "verdict.json"])
def test_a_run_whose_record_is_spoilt_keeps_nothing_from_being_listed(
    here: Path, name: str, spoil: Callable[[Path], object]
) -> None:
    folder = run(here, "20260105T080000Z-7", "pass", {"cause": ""})
    (folder / name).unlink()
    spoil(folder / name)
    lines = list(run_lines(Path("runs")))
    assert [line.split()[0] for line in lines] in ([], ["runs/sound/20260105T080000Z-7"])
