"""The rooms of the house stay small: a folder has no more entries than a person reads at once, and
a way through the lab no more rooms.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

MOST = 20
MOST_FLOORS = 10
NOT_COUNTED = {"__init__.py", "__pycache__"}
OURS = ("bench", "defects", "docs", "lab", "nodes", "playbooks", "scenarios", "spark_eval", "tests")


@pytest.mark.parametrize("name", OURS)
def test_a_folder_has_twenty_entries_or_fewer(name: str) -> None:
    top = ROOT / name
    sizes = {each: _entries(each) for each in [top, *filter(_is_room, top.rglob("*"))]}
    assert sizes[top] > 0
    assert {str(each): size for each, size in sizes.items() if size > MOST} == {}


def _is_room(path: Path) -> bool:
    return path.is_dir() and path.name not in NOT_COUNTED


def _entries(folder: Path) -> int:
    return sum(each.name not in NOT_COUNTED for each in folder.iterdir())


def test_the_rooms_of_the_lab_have_ten_floors_or_fewer() -> None:
    """Each imports from those below it: `make lint` holds the contract, which leaves out none."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (floors,) = (each for each in known["contracts"] if each.get("containers") == ["lab"])
    assert floors["exhaustive"]
    rooms = {room for floor in floors["layers"] for room in floor.split(" | ")}
    assert rooms == {each.parent.name for each in (ROOT / "lab").glob("*/__init__.py")} | {"clock"}
    assert len(floors["layers"]) <= MOST_FLOORS
