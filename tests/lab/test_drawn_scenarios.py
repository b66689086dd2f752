from __future__ import annotations

from pathlib import Path

from lab.validation.validate import check
from tests.lab.drawn_scenarios.__main__ import draw_scenarios


def _texts(folder: Path, seed: int) -> dict[str, str]:
    folder.mkdir()
    drawn = draw_scenarios(folder, 5, seed)
    assert drawn == sorted(folder.iterdir(), key=drawn.index)
    return {path.name: path.read_text() for path in drawn}


def test_drawn_scenarios_are_sound_and_each_is_another(tmp_path: Path) -> None:
    drawn = _texts(tmp_path / "a", 1)
    assert len(set(drawn.values())) == 5
    assert len(check([tmp_path / "a"]).scenarios) == 5


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    assert _texts(tmp_path / "a", 1) == _texts(tmp_path / "b", 1)
    assert _texts(tmp_path / "c", 2) != _texts(tmp_path / "d", 1)
