"""A node ends in order and with its own exit code, whenever it is asked to stop: while it still
reads its modules, and again while it clears up.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.nodes.shell.organisation import Organisation
from tests.nodes.shell.running import SOURCES
from tests.nodes.shell.waiting import records, started, until

pytestmark = pytest.mark.slow

# The signal comes when the first module of the library for SMTP is looked for.
PROGRAM = """
import os, runpy, sys

class Signals:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("aiosmtp"):
            sys.meta_path.remove(self)
            os.kill(os.getpid(), int(signal))

signal, module, *sys.argv[1:] = sys.argv[1:]
sys.meta_path.insert(0, Signals())
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
# The signal comes again when nothing is there any more that could heed it.
LATE_PROGRAM = """
import asyncio, atexit, os, runpy, sys

class Last:
    def __del__(self, kill=os.kill, pid=os.getpid()):
        kill(pid, int(number))

def at(moment):
    if moment == moment_wanted:
        os.kill(os.getpid(), int(number))

def close(self, close=asyncio.SelectorEventLoop.close):
    close(self)
    at("its loop is closed")

moment_wanted, number, module, *sys.argv[1:] = sys.argv[1:]
asyncio.SelectorEventLoop.close = close
atexit.register(at, "the program ends")
if moment_wanted == "its modules are let go":
    asyncio.last = Last()
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
SERVERS = {"runner": "par-mbx1", "active_manager": "am1", "external": "ext1"}


@pytest.fixture
def organisation(tmp_path: Path) -> Organisation:
    return Organisation(tmp_path, managers=("am1",))


@contextmanager
def signalled(
    organisation: Organisation, module: str, number: int, *moment: str
) -> Iterator[subprocess.Popen[str]]:
    """At the start, or at a `moment` of the end."""
    config = organisation.write_config(SERVERS[module])
    program = [LATE_PROGRAM, *moment] if moment else [PROGRAM]
    command = [sys.executable, "-c", *program, str(number), f"nodes.shell.{module}", str(config)]
    environment = os.environ | {"PYTHONPATH": str(SOURCES)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as node:
        try:
            yield node
        finally:
            node.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("module", SERVERS)
def test_asked_to_stop_it_begins_and_ends_in_order(
    module: str, number: int, organisation: Organisation
) -> None:
    with signalled(organisation, module, number) as node:
        _, said = node.communicate(timeout=60)
    assert (node.returncode, said) == (0, "")
    lifecycle = records(organisation.logs(SERVERS[module]) / "lifecycle.jsonl")
    assert [row["event"] for row in lifecycle][-2:] == ["started", "stopped"]


@pytest.mark.parametrize("module", SERVERS)
def test_told_of_its_machine_it_goes_on(module: str, organisation: Organisation) -> None:
    logs = organisation.logs(SERVERS[module])
    with signalled(organisation, module, signal.SIGUSR1) as node:
        until(lambda: started(logs, 0), "the node started", logs)
        node.terminate()
        _, said = node.communicate(timeout=60)
    assert (node.returncode, said) == (0, "")


@pytest.mark.parametrize(
    "moment", ["its loop is closed", "the program ends", "its modules are let go"]
)
@pytest.mark.parametrize(
    ("module", "number"),
    [(module, signal.SIGTERM) for module in SERVERS]
    + [("runner", signal.SIGINT), ("runner", signal.SIGUSR1)],
)
def test_a_second_signal_changes_nothing_of_its_end(
    moment: str, module: str, number: int, organisation: Organisation
) -> None:
    logs = organisation.logs(SERVERS[module])
    with signalled(organisation, module, number, moment) as node:
        until(lambda: started(logs, 0), "the node started", logs)
        node.terminate()
        _, said = node.communicate(timeout=60)
    assert (node.returncode, said) == (0, "")
