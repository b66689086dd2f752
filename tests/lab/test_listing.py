"""What there is, listed: scenarios with what they ask, runs with what became of them."""

import json
from pathlib import Path

import pytest

from lab.listing import run_lines, scenario_lines
from tests.lab.sound import SCENARIO, changed, write


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with one sound scenario and one that is not."""
    scenarios = tmp_path / "scenarios"
    scenarios.mkdir()
    write(scenarios, SCENARIO)
    wrong = changed(SCENARIO, "kind: stall", "kind: x")
    write(scenarios, changed(wrong, "scenario: sound", "scenario: wrong"), name="wrong")
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
