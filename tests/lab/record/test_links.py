"""The lab goes on in no folder that leads elsewhere."""

from pathlib import Path

import pytest

from lab.program.errors import ScenarioError
from lab.record.links import refuse_links


@pytest.mark.parametrize("name", ["crashes.jsonl", "results", "runs"])
def test_a_link_in_a_folder_that_is_written_to_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "sweep"
    (folder / name).parent.mkdir(parents=True)
    refuse_links(folder)
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ScenarioError, match=f"{name}: is a link"):
        refuse_links(folder)


def test_so_is_a_folder_that_is_a_link_itself(tmp_path: Path) -> None:
    (tmp_path / "sweep").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ScenarioError, match="sweep: is a link"):
        refuse_links(tmp_path / "sweep")


def test_one_that_is_not_there_yet_is_none(tmp_path: Path) -> None:
    refuse_links(tmp_path / "new")
