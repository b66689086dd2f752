"""What is written into a record of somebody else stays in it: links there are not followed, nor is
anything removed that they lead to.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_eval.__main__ import main
from spark_eval.read.folder.run_folder import RunFolderError, open_run_folder
from spark_eval.sweep.folder import open_sweep
from tests.spark_eval.runs.run_builder import healthy

LINKED = ("evaluation", "evaluation/messages.parquet", "evaluation/compare")
SWEEP = {
    "scenario": "calm", "first_seed": 1, "seeds": 2, "per_batch": 1,
    "origin": "2026-01-05T08:00:00Z",
}  # fmt: skip


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder of somebody's, with what an evaluation would replace."""
    folder = tmp_path / "elsewhere"
    (folder / "messages.parquet").mkdir(parents=True)
    (folder / "messages.parquet" / "kept").touch()
    return folder


@pytest.fixture
def link(tmp_path: Path, elsewhere: Path) -> Callable[[Path], None]:
    def linked(place: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(elsewhere / "messages.parquet" if place.suffix else elsewhere)

    return linked


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("words", [[], ["--report-only"], ["--story", "<m@x>"]], ids=str)
def test_a_record_with_a_link_where_it_is_written_to_is_refused(
    tmp_path: Path,
    elsewhere: Path,
    link: Callable[[Path], None],
    capsys: pytest.CaptureFixture[str],
    name: str,
    words: list[str],
) -> None:
    folder = healthy().write(tmp_path)
    link(folder / name)
    assert main([str(folder), *words]) == 4
    assert f"{name} is a link" in capsys.readouterr().err
    assert (elsewhere / "messages.parquet" / "kept").exists()
    assert [path.name for path in elsewhere.iterdir()] == ["messages.parquet"]


@pytest.mark.parametrize("name", ["results", "runs", "seeds"])
def test_so_is_a_sweep(tmp_path: Path, link: Callable[[Path], None], name: str) -> None:
    (tmp_path / "sweep.json").write_text(json.dumps(SWEEP))
    open_sweep(tmp_path)
    link(tmp_path / name)
    with pytest.raises(RunFolderError, match=f"{name} is a link"):
        open_sweep(tmp_path)


def test_links_on_the_way_to_a_record_are_of_him_who_calls(tmp_path: Path) -> None:
    folder = healthy().write(tmp_path)
    (tmp_path / "latest").symlink_to(folder)
    assert open_run_folder(tmp_path / "latest").path == folder.resolve()
