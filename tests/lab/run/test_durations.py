"""Estimates come from what was seen on this machine, and cost nothing where nothing was."""

from pathlib import Path

import pytest

from lab.run.durations import DEFAULTS, FILE, KEPT, Durations


@pytest.fixture
def durations(tmp_path: Path) -> Durations:
    return Durations(tmp_path)


def test_what_was_never_seen_has_a_default(durations: Durations) -> None:
    assert durations.expected("evaluation", "calm") == DEFAULTS["evaluation"]


def test_an_estimate_is_the_median_of_the_last_ones(durations: Durations) -> None:
    for seconds in (1000.0, 10.0, 30.0, 20.0, 40.0, 50.0):
        durations.note(seconds, "evaluation")
    assert KEPT == 5
    assert durations.expected("evaluation") == 30.0


def test_a_scenario_that_was_never_seen_has_the_estimate_of_the_others(
    durations: Durations,
) -> None:
    durations.note(100.0, "evaluation", "slow")
    durations.note(10.0, "evaluation", "fast")
    assert durations.expected("evaluation", "slow") == 100.0
    assert durations.expected("evaluation", "fast") == 10.0
    assert durations.expected("evaluation", "new") == 55.0


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 2}', '{"version": 1, "seconds": {"evaluation": "x"}}']
)
def test_a_damaged_file_costs_an_estimate_and_nothing_else(
    durations: Durations, tmp_path: Path, text: str
) -> None:
    (tmp_path / FILE).write_text(text)
    assert durations.expected("evaluation") == DEFAULTS["evaluation"]
    durations.note(10.0, "evaluation")
    assert durations.expected("evaluation") == 10.0


def test_where_nothing_can_be_written_nothing_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    durations = Durations(tmp_path / "file")
    durations.note(10.0, "evaluation")
    assert durations.expected("evaluation") == DEFAULTS["evaluation"]
