"""Every command with words that name nothing, and in places where nothing can be written.

None may end with a traceback, with a code that means something else, or with a file less.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.cli.__main__ import main
from lab.cli.app import COMMANDS
from lab.hosts.containers import engine
from tests.lab.scenario.sample_scenario import SCENARIO, write

pytestmark = pytest.mark.slow

WRONG, GROUND = 4, 3
ROOT = Path(__file__).resolve().parents[3]

# a call of every command with a name in it; WORD stands for the hostile word
NAMES = {
    "validate": ["WORD"],
    "schema": ["WORD"],
    "plan": ["WORD"],
    "run": ["WORD"],
    "up": ["WORD"],
    "suite": ["WORD"],
    "repeat": ["WORD", "2"],
    "sweep": ["WORD"],
    "exhaust": ["WORD"],
    "shrink": ["WORD"],
    "prove": ["WORD"],
    "evaluate": ["WORD"],
    "report": ["WORD"],
    "story": ["WORD", "<m1@x>"],
    "compare": ["made", "WORD"],
    "replay": ["WORD"],
    "list": ["WORD"],
    "new": ["WORD"],
    "prune": ["--older-than", "WORD"],
    "down": ["WORD"],
    "do": ["WORD", "kill: par-mbx1, for: 5m"],
    "heal": ["WORD", "f1"],
    "send": ["WORD"],
    "status": ["WORD"],
    "queues": ["WORD"],
    "requests": ["WORD"],
    "watch": ["WORD"],
}
OTHER_NAMES = [
    ["validate", "sound", "WORD"],
    ["suite", "sound", "WORD"],
    ["suite", "--tag", "WORD"],
    ["suite", "sound", "--at-most", "WORD"],
    ["exhaust", "sound", "--only", "WORD"],
    ["compare", "WORD", "made"],
    ["replay", "WORD", "--node", "par-mbx1"],
    ["new", "fresh", "--from", "WORD"],
]
NO_NAMES = {
    "empty": "",
    "blank": " ",
    "a folder": "folder",
    "a full folder": "full",
    "a file": "file",
    "below a file": "file/below",
    "a pipe": "pipe",
    "a device": "/dev/null",
    "a link to itself": "loop",
    "below a link to itself": "loop/below",
    "upwards": "../outside",
    "long": "x" * 300,
    "long below": "runs/" + "x" * 300,
    "control characters": "a\x1b[31m\nb",
    "no UTF-8": "\udcff",
}
# where a command would write
OUTPUTS = [
    ["run", "sound", "--on", "simulator", "--announce", "WORD"],
    ["suite", "sound", "--on", "simulator", "--folder", "WORD"],
    ["shrink", "made", "--out", "WORD"],
    ["compare", "made", "made", "--out", "WORD"],
]
NO_OUTPUTS = [
    *("empty", "blank", "a file", "below a file", "a pipe", "a device", "long", "long below"),
    *("a link to itself", "below a link to itself"),
]
SOUND_FOR_NEW = ("a folder", "a full folder", "a file", "a pipe", "a link to itself")
CALLS = [
    *(
        ([command, *words], kind)
        for command, words in NAMES.items()
        for kind in NO_NAMES
        if command != "new" or kind not in SOUND_FOR_NEW
    ),
    *((words, kind) for words in OTHER_NAMES for kind in NO_NAMES),
    *((words, kind) for words in OUTPUTS for kind in NO_OUTPUTS),
    (["suite", "sound", "--on", "simulator", "--folder", "WORD"], "a full folder"),
    (["run", "sound", "--on", "simulator", "--announce", "WORD"], "a folder"),
    (["shrink", "made", "--out", "WORD"], "upwards"),
]


def never(*_: object, **__: object) -> None:
    """A wrong call starts no program."""
    raise AssertionError("a program was started")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one scenario, one run folder and everything that is no name."""
    root = tmp_path / "checkout"
    for folder in ("scenarios", "folder", "full", "runs/made/20260105T080000Z-7", ".shadowlab"):
        (root / folder).mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("")
    write(root / "scenarios", SCENARIO)
    made = root / "runs/made/20260105T080000Z-7"
    (made / "plan.json").write_text("{}")
    (made / "manifest.json").write_text('{"run": "made-7", "host": "simulator"}')
    (root / "runs/made/latest").symlink_to(made.name)
    for name in ("full/kept", "file"):
        (root / name).write_text("somebody's own\n")
    os.mkfifo(root / "pipe")
    (root / "loop").symlink_to("loop")
    monkeypatch.chdir(root)
    monkeypatch.setattr(engine, "connect", lambda: None)
    for module in ("down", "asking"):
        monkeypatch.setattr(f"lab.hosts.containers.{module}.known_runs", lambda *_: {})
    monkeypatch.setattr(subprocess.Popen, "__init__", never)
    return root


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every path below, with what its file holds."""
    every = sorted(folder.rglob("*"))
    return {str(path): path.read_bytes() if path.is_file() else None for path in every}


def test_every_command_has_a_hostile_call() -> None:
    assert sorted(NAMES) == sorted(command.__name__.rstrip("_") for command in COMMANDS)


@pytest.mark.parametrize(("words", "kind"), CALLS, ids=[f"{' '.join(w)}: {k}" for w, k in CALLS])
def test_a_word_that_names_nothing_is_a_wrong_call_and_touches_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], kind: str
) -> None:
    before = contents(here.parent)
    null = os.stat("/dev/null").st_ino
    code = main([NO_NAMES[kind] if word == "WORD" else word for word in words])
    told = capsys.readouterr().err
    assert "Traceback" not in told
    assert "a bug of the lab" not in told
    assert (code, bool(told)) == (WRONG, True), told
    assert contents(here.parent) == before
    assert os.stat("/dev/null").st_ino == null


CALLS_ANYWHERE = {
    "list": ["list"],
    "list runs": ["list", "runs"],
    "validate": ["validate"],
    "plan": ["plan", "sound"],
    "new": ["new", "fresh"],
    "prune": ["prune"],
    "evaluate": ["evaluate"],
    "replay": ["replay", "sound"],
    "run": ["run", "sound", "--on", "simulator"],
    "repeat": ["repeat", "sound", "1", "--on", "simulator"],
    "sweep": ["sweep", "sound", "--seeds", "1"],
    "exhaust": ["exhaust", "sound"],
    "suite": ["suite", "sound", "--on", "simulator"],
    "down": ["down"],
}
NOWHERE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}


def called(
    words: list[str],
    cwd: Path,
    before: str = "",
    after: str = "",
    **environment: str,
) -> tuple[int, str]:
    """Exit code and stderr of a call by a shell, after the command `before`, redirected."""
    shell = f"{before}; exec {sys.executable} -m lab.cli {' '.join(words)} {after}"
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **NOWHERE, **environment}
    done = subprocess.run(
        ["sh", "-c", shell.lstrip("; ")], cwd=cwd, env=own, capture_output=True, timeout=120
    )
    return done.returncode, done.stderr.decode("utf-8", "replace")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A place with one scenario, and nothing that was made by the lab."""
    (tmp_path / "scenarios").mkdir()
    write(tmp_path / "scenarios", SCENARIO)
    return tmp_path


@pytest.mark.parametrize("call", ["list", "list runs", "plan", "evaluate", "run", "suite", "down"])
def test_in_a_folder_that_is_gone_every_call_says_so(place: Path, call: str) -> None:
    gone = place / "gone"
    gone.mkdir()
    code, told = called(CALLS_ANYWHERE[call], gone, before=f"rmdir {gone}")
    assert "Traceback" not in told
    assert code in (GROUND, WRONG, *((0,) if call in ("list", "list runs", "plan") else ())), told
    assert not gone.exists()


@pytest.mark.parametrize(
    ("call", "code"),
    [("list runs", 0), ("prune", 0), ("evaluate", WRONG), ("replay", WRONG)]
    + [(each, GROUND) for each in ("run", "repeat", "sweep", "exhaust", "suite")],
)
def test_where_runs_is_a_file_it_stays_and_what_needs_the_folder_says_so(
    place: Path, call: str, code: int
) -> None:
    (place / "runs").write_text("somebody's own\n")
    found, told = called(CALLS_ANYWHERE[call], place)
    assert "Traceback" not in told
    assert "bug" not in told
    assert found == code, told
    assert (place / "runs").read_text() == "somebody's own\n"


@pytest.mark.parametrize("call", ["new", "run", "sweep", "exhaust", "suite"])
def test_where_no_room_is_left_a_call_ends_with_3_and_no_half_scenario(
    place: Path, call: str
) -> None:
    found, told = called(CALLS_ANYWHERE[call], place, before="ulimit -f 0")
    assert "Traceback" not in told
    assert "bug" not in told
    assert found == GROUND, told
    # the first that an exhaustive search writes is Spark's
    reason = "No usable temporary directory" if call == "exhaust" else "file too large"
    assert reason in told
    assert [path.name for path in (place / "scenarios").glob("*.yaml")] == ["sound.yaml"]


@pytest.mark.parametrize(
    ("after", "code"), [("> /dev/full", GROUND), (">&-", 0), ("2>&-", 0), (">&- 2>&-", 0)]
)
@pytest.mark.parametrize("call", ["list", "plan"])
def test_output_that_cannot_be_written_is_no_verdict(
    place: Path, call: str, after: str, code: int
) -> None:
    found, told = called(CALLS_ANYWHERE[call], place, after=after)
    assert "Traceback" not in told
    assert "Exception ignored" not in told
    assert found == code, told


@pytest.mark.parametrize("call", ["list", "plan"])
def test_a_terminal_that_knows_no_arrows_gets_them_escaped(place: Path, call: str) -> None:
    code, told = called(CALLS_ANYWHERE[call], place, PYTHONIOENCODING="ascii")
    assert (code, told) == (0, "")


def test_where_no_engine_answers_down_says_so(place: Path) -> None:
    code, told = called(CALLS_ANYWHERE["down"], place)
    assert code == GROUND
    assert told.startswith("shadowlab: no Docker engine answers")
