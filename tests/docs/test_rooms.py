"""The rooms of the house stay small: a folder has no more entries than a person reads at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import ROOT

MOST = 20
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
