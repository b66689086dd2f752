"""Whatever a person names as a scenario or a topology: one line, exit code 4, and never a hang."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cli.__main__ import main
from lab.program.given_file import UnreadableFile, read_given
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY, changed, write


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _folder(path: Path) -> None:
    path.mkdir()


def _round(path: Path) -> None:
    path.symlink_to(path.name)


def _nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


def _latin(path: Path) -> None:
    path.write_bytes(b"summary: caf\xe9\n")


def _utf16(path: Path) -> None:
    path.write_bytes("version: 1\n".encode("utf-16"))


def _empty(path: Path) -> None:
    path.write_bytes(b"")


STRANGE: dict[str, Callable[[Path], None]] = {
    "a FIFO": _fifo,
    "a device": _device,
    "a folder": _folder,
    "a link to itself": _round,
    "a link to nothing": _nowhere,
    "not UTF-8": _latin,
    "UTF-16": _utf16,
    "empty": _empty,
}
COMMANDS = (["validate"], ["plan"], ["run", "--on", "simulator"], ["new", "copied", "--from"])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place of its own, with a sound scenario beside its topology."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, SCENARIO)
    return tmp_path


def says(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    return said.err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
def test_a_path_that_is_no_scenario_is_a_wrong_call(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[Path], None],
    command: list[str],
) -> None:
    make(here / "strange.yaml")
    assert main([*command, "strange.yaml"]) == 4
    assert "strange.yaml" in says(capsys)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    "name", ["", "x" * 300, "x" * 300 + ".yaml", "/dev/zero", "a/" * 3000, "/"]
)
def test_a_name_that_can_be_no_file_is_a_wrong_call(
    here: Path, capsys: pytest.CaptureFixture[str], command: list[str], name: str
) -> None:
    if (command, name) != (["validate"], "/"):  # which is all scenarios of the machine
        assert main([*command, name]) == 4
        assert says(capsys)


@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
def test_a_topology_that_is_no_file_is_a_mistake(
    here: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], None]
) -> None:
    make(here / "topologies" / "strange.yaml")
    write(here, changed(SCENARIO, "topology: pair", "topology: strange"))
    assert main(["plan", "sound.yaml"]) == 4
    assert len([line for line in says(capsys).splitlines() if "yaml:" in line]) == 1


OUTSIDE = ("/etc/hostname", "../secret", "topologies/pair", "pair.yaml", "x" * 300, ".", "~", "")


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_topology_is_a_name_and_no_path(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    write(here, changed(SCENARIO, "topology: pair", f'topology: "{name}"'))
    assert main(["plan", "sound.yaml"]) == 4
    assert "is no topology" in says(capsys)


def test_a_link_that_leaves_the_folder_is_no_topology(
    tmp_path_factory: pytest.TempPathFactory, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "pair.yaml"
    secret.write_text(TOPOLOGY)
    (here / "topologies" / "pair.yaml").unlink()
    (here / "topologies" / "pair.yaml").symlink_to(secret)
    assert main(["plan", "sound.yaml"]) == 4
    assert "is a link that leads out of" in says(capsys)


def test_a_folder_that_links_to_itself_is_searched_once(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "self").symlink_to(here)
    assert main(["validate", str(here)]) == 0
    assert capsys.readouterr().out == "1 scenario, no mistakes\n"


def test_a_folder_without_a_scenario_is_no_pass(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "bare").mkdir()
    assert main(["validate", "bare"]) == 4
    assert says(capsys).startswith("shadowlab: bare holds no scenario\nhint: ")


def test_a_topology_is_no_scenario_to_plan(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "topologies/pair.yaml"]) == 4
    assert says(capsys).startswith("shadowlab: topologies/pair.yaml is a topology and no scenario")


def test_a_mark_of_byte_order_is_no_part_of_the_text(here: Path) -> None:
    (here / "sound.yaml").write_bytes(b"\xef\xbb\xbf" + SCENARIO.encode())
    assert main(["plan", "sound.yaml"]) == 0


FAILURES = {errno.EACCES: 4, errno.ENAMETOOLONG: 4, errno.EIO: 3, errno.EMFILE: 3}


@pytest.mark.parametrize(("number", "code"), FAILURES.items())
def test_a_file_that_may_not_be_read_is_the_callers_and_a_disk_that_fails_is_not(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: int,
    code: int,
) -> None:
    opened = os.open

    def refuse(path: str | Path, *arguments: int) -> int:
        if Path(path).name == "sound.yaml":
            raise OSError(number, os.strerror(number))
        return opened(path, *arguments)

    monkeypatch.setattr(os, "open", refuse)
    assert main(["plan", "sound.yaml"]) == code
    assert os.strerror(number).lower() in says(capsys).lower()


def test_no_more_is_read_than_asked_for(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 100)
    assert read_given(tmp_path / "long", 10) == b"x" * 10


def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableFile, match="is a FIFO and no file"):
        read_given(tmp_path / "pipe", 10)
