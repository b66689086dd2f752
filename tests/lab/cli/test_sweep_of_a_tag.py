"""`shadowlab sweep --tag`: every scenario of it under the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import lab.campaigns.sweep.sweep
from lab.campaigns.sweep.sweep import Sweep
from lab.cli.__main__ import main
from lab.validation.library import load_scenario, scenario_paths


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    """Names, first seeds and their number, of what was swept; nothing is."""
    swept: list[tuple[str, int, int]] = []

    def sweep_all(sweeps: Sequence[Sweep]) -> int:
        swept.extend((s.scenario.scenario.scenario, s.seeds.first, s.seeds.count) for s in sweeps)
        return 2

    monkeypatch.setattr(lab.campaigns.sweep.sweep, "sweep_all", sweep_all)
    return swept


def test_every_scenario_of_the_tag_is_swept(done: list[tuple[str, int, int]]) -> None:
    code = main(["sweep", "--tag", "chaos", "--seeds", "7", "--first", "40"])
    assert sorted(done) == sorted((name, 40, 7) for name in _tagged("chaos"))
    assert code == 2


@pytest.mark.parametrize("words", [[], ["calm", "--tag", "chaos"], ["--tag", "choas"]])
def test_a_call_that_names_nothing_or_both_is_wrong(
    done: list[tuple[str, int, int]], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", *words]) == 4
    assert "hint: " in capsys.readouterr().err
    assert not done


def _tagged(tag: str) -> list[str]:
    found = [load_scenario(str(path))[0] for path in map(Path, scenario_paths())]
    return [each.scenario.scenario for each in found if each and tag in each.scenario.tags]
