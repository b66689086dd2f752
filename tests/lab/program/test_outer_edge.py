"""What a program of the lab ends with, whatever it raised."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.program import outer_edge
from lab.program.errors import ScenarioError
from lab.program.watchdog import Interrupted
from spark_eval.program import outer_edge as evaluation_edge

PROGRAMS = [
    *(
        "lab.hosts.containers.down",
        "lab.hosts.containers.engine",
        "lab.hosts.containers.images.ensure",
    ),
    *("lab.workload", "bench", "spark_eval", "spark_eval.compare", "spark_eval.report.suite"),
]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv(outer_edge.DEBUG, raising=False)


def raising(error: BaseException) -> Callable[[], int]:
    def work() -> int:
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ScenarioError("wrong"), 4),
        (KeyboardInterrupt(), 130),
        (Interrupted("SIGTERM"), 130),
        (BrokenPipeError(), 3),
        (SystemExit(1), 3),
        (SystemExit("said"), 3),
        (SystemExit(2), 3),
        (SystemExit(), 0),
        (OSError(28, "No space left on device", "runs/x"), 3),
        (ValueError("unforeseen"), 3),
        (RecursionError(), 3),
        (MemoryError(), 3),
        (ImportError("no module"), 3),
    ],
    ids=repr,
)
def test_every_exception_has_a_code_of_its_own(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outer_edge.guarded(raising(error)) == code
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 130])
def test_a_code_that_is_returned_is_kept(code: int) -> None:
    assert outer_edge.guarded(lambda: code) == code


@pytest.mark.parametrize(
    "error", [SystemExit(1), SystemExit(2), ValueError("x"), MemoryError(), BrokenPipeError()]
)
def test_no_exception_of_the_evaluation_is_a_verdict(error: BaseException) -> None:
    assert evaluation_edge.guarded(raising(error)) == 3


@pytest.mark.parametrize("edge", [outer_edge.guarded, evaluation_edge.guarded])
def test_the_traceback_of_a_bug_is_in_a_file_that_is_named(
    edge: Callable[[Callable[[], int]], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edge(raising(ValueError("un\nforeseen")))
    cause, hint = capsys.readouterr().err.splitlines()
    assert cause.endswith("ValueError: un foreseen")
    [kept] = tmp_path.glob("shadowlab-traceback-*.txt")
    assert hint == f"hint: the traceback is in {kept}"
    assert "Traceback" in kept.read_text()


@pytest.mark.parametrize("edge", [outer_edge.guarded, evaluation_edge.guarded])
@pytest.mark.parametrize(("value", "is_shown"), [("1", True), ("0", False), ("", False)])
def test_with_the_variable_set_the_traceback_is_shown(
    edge: Callable[[Callable[[], int]], int],
    value: str,
    is_shown: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(outer_edge.DEBUG, value)
    assert edge(raising(ValueError("unforeseen"))) == 3
    assert ("Traceback" in capsys.readouterr().err) == is_shown


def test_no_room_is_said_with_what_makes_some(capsys: pytest.CaptureFixture[str]) -> None:
    outer_edge.guarded(raising(OSError(28, "No space left on device", "runs/x")))
    assert capsys.readouterr().err.splitlines() == [
        "shadowlab: runs/x: no space left on device",
        "hint: make room; shadowlab prune removes old runs",
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_work_and_the_handler_before_is_there_again(number: int) -> None:
    before = signal.getsignal(number)

    def work() -> int:
        os.kill(os.getpid(), number)
        signal.sigtimedwait([], 10)  # until it arrives
        return 0

    assert outer_edge.guarded(work) == 130
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_wrong_call_of_any_program_ends_with_4_and_without_a_traceback(
    program: str, tmp_path: Path
) -> None:
    nowhere = {"PYTHONPATH": str(ROOT), "DOCKER_HOST": "unix:///nowhere/docker.sock"}
    done = subprocess.run(
        [sys.executable, "-m", program, "no-such-word"],
        cwd=tmp_path,
        env=os.environ | nowhere,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == (3 if program.endswith((".ensure", ".suite")) else 4), done.stderr
