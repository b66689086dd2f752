"""The file that a container with a defect is given: a node that is started from it breaks its
promise, in every life.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import defects
from defects.__main__ import main
from lab.hosts.containers.ground.defect_file import archive
from nodes.core.node import Node
from tests.nodes.shell.organisation import Organisation
from tests.nodes.shell.running import process
from tests.nodes.shell.sending import send

ROOT = Path(defects.__file__).parents[1]
REJECTS = "rejects-what-is-to-be-accepted"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("etc") / "defect.pyz"
    path.write_bytes(archive(ROOT))
    return path


def test_the_same_sources_make_the_same_bytes() -> None:
    assert archive(ROOT) == archive(ROOT)


def test_the_whole_catalogue_is_in_the_file(file: Path) -> None:
    found = {name for name in zipfile.ZipFile(file).namelist() if name.startswith("defects/")}
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "defects").rglob("*.py")}
    assert found == there
    assert "defects/logs/tracking.py" in found


@pytest.mark.slow
def test_a_node_that_is_started_from_the_file_has_the_defect_in_every_life(
    file: Path, tmp_path: Path
) -> None:
    organisation = Organisation(tmp_path)
    with process(organisation, "par-mbx1") as node:
        assert (send(node.port(), 1).reply or "").startswith("250 2.6.0")
        assert node.stop() == 0
    for number in (2, 3):
        with process(organisation, "par-mbx1", words=(str(file), REJECTS)) as node:
            assert (send(node.port(), number).reply or "").startswith("451 4.4.0")
            assert node.stop() == 0


@pytest.mark.slow
def test_active_manager_is_started_from_the_file_too(file: Path, tmp_path: Path) -> None:
    organisation = Organisation(tmp_path, managers=("am1",))
    with process(organisation, "am1", "active_manager", (str(file), REJECTS)) as node:
        assert node.port() > 0
        assert node.stop() == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "usage: python3 -m defects NAME PROGRAM CONFIG\n"),
        (
            ["keeps-for-evr", "nodes.shell.runner", "x"],
            "there is no defect keeps-for-evr\nhint: did you mean keeps-for-ever?\n",
        ),
        (
            ["keeps-for-ever", "nodes.shell.runer", "x"],
            "nodes.shell.runer takes no defect\nhint: did you mean nodes.shell.runner?\n",
        ),
    ],
)
def test_a_wrong_call_starts_no_node(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 64
    assert capsys.readouterr().err == said


def test_nothing_is_left_of_the_defect_when_the_program_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Node.__init__
    assert main([REJECTS, "nodes.shell.runner", str(tmp_path / "nothing")]) == 64
    assert "cannot be read" in capsys.readouterr().err
    assert Node.__init__ is before
