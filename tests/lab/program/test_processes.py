import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lab.program import processes
from tests.lab.hosts.containers.stand_in import waiting

SLEEP = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + (
    "print('deaf', flush=True); time.sleep(60)"
)


@contextmanager
def running(command: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is there; killed and waited for in the end."""
    program = subprocess.Popen(
        waiting(command), stdout=subprocess.PIPE, env=os.environ | environment
    )
    assert program.stdout is not None
    try:
        program.stdout.readline()
        yield program
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


def test_a_record_written_down_names_the_process_that_runs(tmp_path: Path) -> None:
    processes.write(tmp_path / "lab.json")
    record = processes.read(tmp_path / "lab.json")
    assert record is not None
    assert record.pid == os.getpid()
    assert processes.is_alive(record)


def test_the_same_pid_with_another_start_or_boot_is_another_process() -> None:
    record = processes.describe(os.getpid())
    assert record is not None
    assert not processes.is_alive(replace(record, start_ticks=record.start_ticks + 1))
    assert not processes.is_alive(replace(record, boot="another"))


def test_a_missing_or_torn_record_names_nothing(tmp_path: Path) -> None:
    assert processes.read(tmp_path / "none.json") is None
    (tmp_path / "torn.json").write_text('{"pid": 1, "start')
    assert processes.read(tmp_path / "torn.json") is None
    (tmp_path / "null.json").write_text("null")
    assert processes.read(tmp_path / "null.json") is None


def test_a_process_that_ended_and_was_not_waited_for_is_not_alive() -> None:
    with running(SLEEP) as program:
        record = processes.describe(program.pid)
        assert record is not None
        os.kill(program.pid, signal.SIGKILL)
        assert processes.gone_within(record, 10)


def test_end_asks_first() -> None:
    with running(SLEEP) as program:
        record = processes.describe(program.pid)
        assert record is not None
        assert processes.end(record)
        assert program.wait() == -signal.SIGTERM
        assert not processes.end(record)


def test_end_makes_a_process_end_that_does_not_listen() -> None:
    with running(STUBBORN) as program:
        record = processes.describe(program.pid)
        assert record is not None
        assert program.stdout is not None
        program.stdout.readline()
        assert processes.end(record, patience_s=0.1)
        assert program.wait() == -signal.SIGKILL


def test_programs_of_a_run_are_found_by_its_mark_and_no_others() -> None:
    with running(SLEEP, SHADOWLAB_RUN="one-1"), running(SLEEP, SHADOWLAB_RUN="one-12") as other:
        found = processes.marked_with("one-12")
        assert [record.pid for record in found] == [other.pid]
