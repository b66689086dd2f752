"""A command that is killed takes along whatever it has begun: no judge, and no JVM, works on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lab.program.sources import ROOT
from tests.lab.cli.short_run import short_run

WITHIN_SECONDS = 60
SLEEPS = "import time; time.sleep(300)\n"
COMMANDS = {
    "replay": ["replay", "sound"],
    "evaluate": ["evaluate", "sound"],
    "report": ["report", "sound"],
    "story": ["story", "sound", "<m@x>"],
    "compare": ["compare", "sound", "sound"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a run, as the working directory of a command."""
    (short_run(tmp_path) / "verdict.json").write_text("{}")
    return tmp_path


@pytest.fixture
def with_stand_in(folder: Path) -> Path:
    """There too a judge that is never done, which `python -m` finds before the real one."""
    package = folder / "spark_eval"
    package.mkdir()
    (package / "__init__.py").touch()
    for name in ("__main__", "compare"):
        (package / f"{name}.py").write_text(SLEEPS)
    return folder


@contextmanager
def started(words: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command in a session of its own, of which nothing is left in the end."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "lab.cli",
        *words,
    ]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as program:
        try:
            yield program
        finally:
            program.kill()
            for pid in of_session(program.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def of_session(leader: int) -> dict[int, str]:
    """Its living processes but the leader, with the command line of each (proc(5))."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, *_, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if int(session) == leader and int(folder.name) != leader and state not in "ZX":
            found[int(folder.name)] = words
    return found


def wait_until(holds: Callable[[], bool], program: subprocess.Popen[bytes]) -> None:
    """Fails after a minute, and where the program ends first by itself."""
    deadline = time.monotonic() + WITHIN_SECONDS
    while not holds():
        assert time.monotonic() < deadline, of_session(program.pid)
        assert program.poll() in (None, -signal.SIGKILL)
        time.sleep(0.02)


def kill_when(begun: Callable[[str], bool], words: list[str], folder: Path) -> None:
    """As soon as it has begun such a program; then nothing of it may be left."""
    with started(words, folder) as program:
        wait_until(lambda: any(map(begun, of_session(program.pid).values())), program)
        program.kill()
        wait_until(lambda: not of_session(program.pid), program)


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_judge_ends_with_the_command_that_began_it(words: list[str], with_stand_in: Path) -> None:
    kill_when(lambda line: " -m spark_eval" in line, words, with_stand_in)


@pytest.mark.spark
def test_a_jvm_ends_with_the_command_whose_judge_began_it(folder: Path) -> None:
    kill_when(lambda line: "java" in line.split(" ")[0], COMMANDS["evaluate"], folder)
