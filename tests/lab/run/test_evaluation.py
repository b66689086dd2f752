"""The evaluation as a program of the lab: its exit code, and its end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.errors import GroundError
from lab.evaluation import evaluate
from lab.hosts.containers import processes

DEADLINE_SECONDS = 10.0


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose `spark_eval` is whatever a test writes; it comes first on the path."""
    here = str(Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), here]))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spark_eval").mkdir()
    (tmp_path / "spark_eval" / "__init__.py").touch()
    return tmp_path


def judge(checkout: Path, program: str) -> None:
    (checkout / "spark_eval" / "__main__.py").write_text(program)


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_its_exit_code_is_the_verdict(checkout: Path, code: int) -> None:
    judge(checkout, f"raise SystemExit({code})")
    assert evaluate(checkout, "run-1") == code


def test_it_is_given_the_run_folder(checkout: Path) -> None:
    judge(checkout, "import sys, pathlib; pathlib.Path('given').write_text(sys.argv[1])")
    evaluate(checkout / "runs" / "x", "run-1")
    assert (checkout / "given").read_text() == str(checkout / "runs" / "x")


def test_a_death_by_signal_is_a_ground_error(checkout: Path) -> None:
    judge(checkout, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(GroundError, match="by signal SIGKILL"):
        evaluate(checkout, "run-1")


@pytest.mark.skipif(sys.platform != "linux", reason="death signals are Linux's")
def test_it_dies_with_a_lab_that_is_killed(checkout: Path) -> None:
    judge(
        checkout,
        "import os, pathlib, time\n"
        "pathlib.Path('pid.tmp').write_text(str(os.getpid()))\n"
        "pathlib.Path('pid.tmp').rename('pid')\n"
        "time.sleep(60)\n",
    )
    program = (
        "from pathlib import Path; from lab.evaluation import evaluate; evaluate(Path('.'), 'r')"
    )
    lab = subprocess.Popen([sys.executable, "-c", program])
    record = processes.describe(_pid_in(checkout / "pid"))
    assert record is not None
    lab.send_signal(signal.SIGKILL)
    lab.wait()
    assert processes.gone_within(record, DEADLINE_SECONDS)


def _pid_in(path: Path) -> int:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, "the evaluation did not start"
        time.sleep(0.01)
    return int(path.read_text())
