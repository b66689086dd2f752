"""One session answers one call after another, as each would be answered by a program of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession

from lab.run.judge import Judge
from lab.run.judgement import SOCKET, Judged, NoJudge, ask_judge
from spark_eval.__main__ import main as evaluate
from spark_eval.compare.__main__ import main as compare
from spark_eval.evaluation.serving import serve as serve_with
from spark_eval.session import BRIEF_LIFE
from spark_eval.spark.class_archive import sharing
from tests.spark_eval.runs.run_builder import healthy

DEADLINE_SECONDS = 120.0
Serve = Callable[[Callable[[], None]], int]


@pytest.fixture
def serve(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Serves in this process, on the session of the tests, until what calls it has ended."""
    monkeypatch.setenv(SOCKET, str(tmp_path / "judge"))
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "judge"))
    listening.listen()
    reader, writer = os.pipe()

    def served(work: Callable[[], None]) -> int:
        def call() -> None:
            try:
                work()
            finally:
                os.close(writer)

        calling = Thread(target=call)
        calling.start()
        with open(reader) as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            programs = {"evaluate": evaluate, "compare": compare}
            code = serve_with(listening.detach(), None, programs)
        calling.join()
        return code

    return served


def test_a_call_is_answered_as_the_program_would(serve: Serve, tmp_path: Path) -> None:
    calm = healthy()
    calm.name = "calm"
    folder = calm.write(tmp_path)
    answers: list[Judged] = []

    def calls() -> None:
        answers.append(ask_judge("evaluate", [str(folder)]))
        answers.append(ask_judge("evaluate", [str(tmp_path)]))
        answers.append(ask_judge("compare", [str(folder), str(folder)]))
        answers.append(ask_judge("nothing", []))

    assert serve(calls) == 0
    judged, wrong, compared, unknown = answers
    assert judged.code == 0
    assert json.loads((folder / "verdict.json").read_text())["verdict"] == "pass"
    assert judged.out.startswith("verdict: pass: calm")
    assert judged.out.endswith(f"report: {folder / 'report.html'}\n")
    assert (wrong.code, wrong.out) == (4, "")
    assert wrong.err.startswith("error: ")
    assert compared.code == 0
    assert compared.out.startswith("compare: calm, seed 7: agrees")
    assert (unknown.code, unknown.err) == (4, "error: this is no call: 'nothing'\n")


def test_what_a_call_kept_in_memory_is_freed(
    serve: Serve, spark: SparkSession, tmp_path: Path
) -> None:
    """What earlier tests left may go at any moment, as Spark's cleaner finds it."""

    def kept() -> set[int]:
        return {rdd.id() for rdd in spark.sparkContext._jsc.getPersistentRDDs().values()}

    folder, before = healthy().write(tmp_path), kept()
    assert serve(lambda: [ask_judge("evaluate", [str(folder)])].clear()) == 0
    assert kept() <= before


def test_a_caller_that_went_away_holds_nobody_up(serve: Serve, tmp_path: Path) -> None:
    folder = healthy().write(tmp_path)
    codes: list[int] = []

    def calls() -> None:
        with socket.socket(socket.AF_UNIX) as gone:
            gone.connect(os.environ[SOCKET])
            gone.sendall(f'{{"program": "evaluate", "words": ["{folder}"]}}\n'.encode())
        codes.append(ask_judge("evaluate", [str(folder)]).code)

    assert serve(calls) == 0
    assert codes == [0]


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """JVMs of another process, which live for one evaluation: the better compiler would take a
    third of all that they do.
    """
    options = " ".join([*BRIEF_LIFE, *sharing()])
    given = f"--conf 'spark.driver.extraJavaOptions={options}' pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", given)


@pytest.mark.timeout(300)
@pytest.mark.spark
def test_a_jvm_killed_in_the_middle_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, brief: None
) -> None:
    folder, remarks = healthy().write(tmp_path), list[str]()
    with Judge(tmp_path / "judge.log", remarks.append) as judge:
        monkeypatch.setenv(SOCKET, judge.environment()[SOCKET])
        assert judge._program is not None
        killing = Thread(target=_kill_its_jvm, args=(judge._program.pid,))
        killing.start()
        with pytest.raises(NoJudge):
            ask_judge("evaluate", [str(folder)])
        killing.join()
        judge._program.wait()
        assert not (folder / "verdict.json").exists()
        monkeypatch.setenv(SOCKET, judge.environment()[SOCKET])
        assert remarks == ["the session that judges ended with 3"]
        assert ask_judge("evaluate", [str(folder)]).code == 0


def _kill_its_jvm(pid: int) -> None:
    """As soon as it has started a worker for its first task."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not any(map(_has_workers, _children(pid))):
        assert time.monotonic() < deadline, "no task began"
        time.sleep(0.01)
    for child in _children(pid):
        os.kill(child, signal.SIGKILL)


def _has_workers(jvm: int) -> bool:
    commands = (Path(f"/proc/{child}/cmdline") for child in _children(jvm))
    return any(b"pyspark.daemon" in path.read_bytes() for path in commands if path.exists())


def _children(pid: int) -> list[int]:
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in lists for child in each.read_text().split()]
