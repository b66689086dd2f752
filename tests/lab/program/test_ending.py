"""A signal at any instant of a program: it ends with 130 and one line, whatever it was doing.

The instant is the n-th call of a function, counted from the moment on at which the program hears.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.campaigns.suite.program import Finished, run_program
from lab.program.ending import Interrupted
from lab.program.watchdog import Watchdog

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
HOOK = """
import os, signal, sys
count = 0
def hook(frame, event, argument):
    global count
    if event == "call" and (count or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL):
        count += 1
        if count == int(os.environ["SIGNAL_AT"]):
            sys.setprofile(None)
            numbers = [signal.Signals(int(each)) for each in os.environ["SIGNALS"].split()]
            signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
            for each in numbers:
                os.kill(os.getpid(), each)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
sys.setprofile(hook)
"""
PLAN = ("lab.cli", "plan", "calm")
POINTS = [1, 5, 300, 5_000, 40_000, 90_000, 150_000, 220_000, 290_000, 340_000]


def ended(folder: Path, at: int, numbers: list[signal.Signals], *words: str) -> tuple[int, str]:
    """Code and stderr of a program that is sent signals at its n-th call, all at once."""
    (folder / "hook").mkdir()
    (folder / "hook" / "sitecustomize.py").write_text(HOOK)
    environment = {
        "PYTHONPATH": os.pathsep.join([str(folder / "hook"), str(ROOT)]),
        "SIGNAL_AT": str(at),
        "SIGNALS": " ".join(str(int(number)) for number in numbers),
    }
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("at", POINTS)
def test_a_command_ends_with_130_and_one_line_wherever_a_signal_finds_it(
    tmp_path: Path, at: int
) -> None:
    number = signal.SIGINT if POINTS.index(at) % 2 else signal.SIGTERM
    assert ended(tmp_path, at, [number], *PLAN) == (130, f"shadowlab: ended by {number.name}\n")


@pytest.mark.parametrize("at", [300, 90_000, 290_000])
def test_a_second_signal_upon_the_first_says_and_breaks_nothing(tmp_path: Path, at: int) -> None:
    numbers = [signal.SIGTERM, signal.SIGINT]
    assert ended(tmp_path, at, numbers, *PLAN) == (130, "shadowlab: ended by SIGINT\n")


@pytest.mark.parametrize("at", [1, 2_000])
def test_the_evaluation_ends_so_while_it_is_imported(tmp_path: Path, at: int) -> None:
    words = ("spark_eval", str(tmp_path / "no-run"))
    assert ended(tmp_path, at, [signal.SIGTERM], *words) == (130, "error: ended by SIGTERM\n")


def test_of_a_jvm_that_was_ended_too_nothing_is_said() -> None:
    program = (
        "import os, signal, sys; from spark_eval.program.outer_edge import guarded\n"
        "def work():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM); signal.sigtimedwait([], 20)\n"
        "    finally:\n"
        "        os.write(2, b'Connection refused')\n"
        "sys.exit(guarded(work))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stderr) == (130, "error: ended by SIGTERM\n")


def test_what_is_swallowed_in_a_callback_is_raised_again() -> None:
    class Swallows:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.sigtimedwait([], 10)

    def run() -> None:
        with Watchdog(lambda _: None):
            Swallows()
            signal.sigtimedwait([], 20)

    with pytest.raises(Interrupted, match="SIGTERM"):
        run()


def test_a_program_that_swallows_it_all_the_same_ends_after_a_while(tmp_path: Path) -> None:
    program = (
        "import os, signal, time; from lab.program import ending, outer_edge\n"
        "ending.PATIENCE_S = 0.5\n"
        "def work():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
        "    except BaseException:\n"
        "        time.sleep(60)\n"
        "outer_edge.guarded(work)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=50
    )
    assert (done.returncode, done.stderr) == (130, "shadowlab: ended by SIGINT\n")


class LockThatASignalKeeps:
    """As subprocess has it, where a signal raises just after it was taken."""

    is_taken = False

    def acquire(self, blocking: bool = True) -> bool:
        if self.is_taken:
            return False
        self.is_taken = True
        raise Interrupted("SIGTERM")

    def release(self) -> None:
        self.is_taken = False


def test_no_signal_finds_a_suite_with_a_lock_that_its_wait_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = subprocess.Popen.__init__

    def begun(program: subprocess.Popen[bytes], *words: object, **more: object) -> None:
        begin(program, *words, **more)  # type: ignore[call-overload]
        program._waitpid_lock = LockThatASignalKeeps()  # type: ignore[attr-defined]

    monkeypatch.setattr(subprocess.Popen, "__init__", begun)
    assert run_program([sys.executable, "-c", ""], tmp_path / "log", 60) == Finished(0)
    hanging = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert run_program(hanging, tmp_path / "log", 0.1, patience_seconds=5).hung
