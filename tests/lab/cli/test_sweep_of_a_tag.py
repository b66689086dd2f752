"""`shadowlab sweep --tag`: every scenario of it under the same seeds; the worst code counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lab.campaigns.sweep.sweep
from lab.cli.__main__ import main
from lab.validation.library import load_scenario, scenario_paths

CODES = {"failovers": 1, "cuts-only": 2}


class FakeSweep:
    """Remembers what was swept."""

    done: list[tuple[str, int, int]]

    def __init__(self, scenario: Any, seeds: Any, *_: object, **__: object) -> None:
        self.name = scenario.scenario.scenario
        FakeSweep.done.append((self.name, seeds.first, seeds.count))

    def run(self) -> int:
        return CODES.get(self.name, 0)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    FakeSweep.done = []
    monkeypatch.setattr(lab.campaigns.sweep.sweep, "Sweep", FakeSweep)
    return FakeSweep.done


def test_every_scenario_of_the_tag_is_swept(done: list[tuple[str, int, int]]) -> None:
    code = main(["sweep", "--tag", "chaos", "--seeds", "7", "--first", "40"])
    assert sorted(done) == sorted((name, 40, 7) for name in _tagged("chaos"))
    assert code == 1


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
