"""The evaluation as a program of the lab: its exit code, and its end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.program import processes
from lab.program.errors import GroundError
from lab.run.evaluation import Evaluation

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


LEAVE_A_VERDICT = "import pathlib, sys; (pathlib.Path(sys.argv[1]) / 'verdict.json').touch()\n"


def judge(checkout: Path, program: str, left: str = LEAVE_A_VERDICT) -> None:
    (checkout / "spark_eval" / "__main__.py").write_text(left + program)


@pytest.mark.parametrize("code", [0, 1, 2])
def test_its_exit_code_is_the_verdict(checkout: Path, code: int) -> None:
    judge(checkout, f"import sys; sys.stdin.readline(); raise SystemExit({code})")
    assert Evaluation(checkout).judge() == code


def test_it_is_given_the_run_folder(checkout: Path) -> None:
    judge(checkout, "import sys, pathlib; pathlib.Path('given').write_text(sys.argv[1])")
    folder = checkout / "runs" / "x"
    folder.mkdir(parents=True)
    Evaluation(folder).judge()
    assert (checkout / "given").read_text() == str(folder)


def test_it_waits_until_the_record_is_whole(checkout: Path) -> None:
    judge(checkout, "import sys; raise SystemExit(0 if sys.stdin.readline() else 2)")
    waiting = Evaluation(checkout)
    assert waiting._program.poll() is None
    assert waiting.judge() == 0


def test_it_can_be_abandoned(checkout: Path) -> None:
    judge(checkout, "import sys; sys.stdin.readline()")
    waiting = Evaluation(checkout)
    waiting.abandon()
    assert waiting._program.poll() is not None


@pytest.mark.parametrize(("code", "shown"), [(0, ""), (3, "no Java\n")])
def test_what_it_says_is_kept_and_shown_only_when_it_could_not_do_its_work(
    checkout: Path, capfd: pytest.CaptureFixture[str], code: int, shown: str
) -> None:
    judge(checkout, f"import sys; print('no Java', file=sys.stderr); raise SystemExit({code})")
    Evaluation(checkout).judge()
    assert (checkout / "evaluation" / "stderr.log").read_text() == "no Java\n"
    assert capfd.readouterr().err == shown


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_an_exit_code_without_a_verdict_and_without_a_word_is_a_ground_error(
    checkout: Path, code: int
) -> None:
    """So it ends where a full disk leaves no room to say so."""
    judge(checkout, f"raise SystemExit({code})", left="")
    with pytest.raises(GroundError, match=f"with exit code {code}") as raised:
        Evaluation(checkout).judge()
    assert "the disk may be full" in raised.value.hint


def test_words_that_come_instead_of_a_verdict_are_named(checkout: Path) -> None:
    """Python ends with 1 what it cannot even import."""
    judge(checkout, "import nothing_of_that_name", left="")
    with pytest.raises(GroundError, match="with exit code 1") as raised:
        Evaluation(checkout).judge()
    assert f"see {checkout / 'evaluation' / 'stderr.log'}" in raised.value.hint


def test_a_death_by_signal_is_a_ground_error(checkout: Path) -> None:
    judge(checkout, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(GroundError, match="by signal SIGKILL"):
        Evaluation(checkout).judge()


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
        "from pathlib import Path; from lab.run.evaluation import Evaluation;"
        "Evaluation(Path('.')).judge()"
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
