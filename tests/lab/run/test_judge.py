"""One session for many runs: asked by each, replaced when it ended, done without where it fails."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.program import processes
from lab.run.judge import Judge
from lab.run.judgement import SOCKET, evaluation_of

PROGRAM = """
import json, os, socket, sys
if sys.argv[1] != "--serve":
    print("alone")
    open(os.path.join(sys.argv[1], "verdict.json"), "w").close()
    raise SystemExit(2)
listening = socket.socket(fileno=int(sys.argv[2]))
while True:
    with listening.accept()[0] as caller:
        call = json.loads(caller.makefile().readline())
        if call["words"][0].endswith("dies"):
            os._exit(9)
        if call["words"][0].endswith("babbles"):
            caller.sendall(b"no JSON")
            continue
        said = " ".join([call["program"], *call["words"]]) + chr(10)
        caller.sendall(json.dumps({"code": 1, "out": said, "err": "slow"}).encode())
"""


@pytest.fixture
def remarks() -> list[str]:
    return []


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remarks: list[str]) -> Iterator[Judge]:
    """A judge whose `spark_eval` is a small one; a run alone is unknown to it."""
    here = str(Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), here]))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spark_eval").mkdir()
    (tmp_path / "spark_eval" / "__init__.py").touch()
    (tmp_path / "spark_eval" / "__main__.py").write_text(PROGRAM)
    with Judge(tmp_path / "logs" / "judge.log", remarks.append) as judge:
        yield judge


@pytest.fixture
def environment(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a run has it that a suite began."""
    monkeypatch.setenv(SOCKET, judge.environment()[SOCKET])


def judged(folder: Path) -> int:
    folder.mkdir(parents=True)
    return evaluation_of(folder).judge()


@pytest.mark.usefixtures("environment")
def test_a_run_asks_the_judge_that_is_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = Path("runs") / "calm" / "1"
    assert judged(folder) == 1
    assert capfd.readouterr() == (f"evaluate {tmp_path / folder}\n", "")
    assert (folder / "evaluation" / "stderr.log").read_text() == "slow"


@pytest.mark.usefixtures("judge")
def test_without_one_a_run_judges_by_itself(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SOCKET, raising=False)
    assert judged(Path("runs") / "calm" / "1") == 2
    assert capfd.readouterr() == ("alone\n", "")


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("name", ["dies", "babbles"])
def test_a_run_that_gets_no_answer_says_so_and_judges_by_itself(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert judged(Path("runs") / "calm" / name) == 2
    said = capfd.readouterr()
    assert said.out == "alone\n"
    assert said.err.startswith("the session that judges gave no answer: ")
    assert said.err.endswith("; this run is judged in a session of its own\n")


def test_a_judge_that_ended_is_replaced_and_told(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, remarks: list[str]
) -> None:
    monkeypatch.setenv(SOCKET, judge.environment()[SOCKET])
    assert judged(Path("runs") / "calm" / "dies") == 2
    assert judge._program is not None
    judge._program.wait()
    monkeypatch.setenv(SOCKET, judge.environment()[SOCKET])
    assert remarks == ["the session that judges ended with 9"]
    assert judged(Path("runs") / "calm" / "1") == 1


def test_it_ends_with_whoever_keeps_it_and_leaves_no_folder(judge: Judge) -> None:
    socket = Path(judge.environment()[SOCKET])
    assert judge._program is not None
    record = processes.describe(judge._program.pid)
    assert record is not None
    judge.end()
    assert not processes.is_alive(record)
    assert not socket.parent.exists()
