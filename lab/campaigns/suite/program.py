"""A run of a suite, as a program of its own: bounded, in its own session, ended with the suite.

When the suite ends, however that is, the kernel asks the program to end, and a run then heals and
removes its lab; one that does not is killed. Only what was started here is ever signalled.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lab.program import processes
from lab.program.death_signal import ASKED_TO_END_WITH_PARENT
from lab.program.processes import ProcessRecord, ended_within, exit_code

SHADOWLAB = (sys.executable, "-m", "lab.cli")
KILLED_WITHIN_SECONDS = 60.0
PATIENCE_SECONDS = 600.0  # what a take-down may need: its steps have bounds of their own


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: its exit code (negative: a signal), and whether its time was up."""

    code: int
    hung: bool = False


def run_program(
    words: Sequence[str],
    log: Path,
    at_most_seconds: float,
    started: Callable[[ProcessRecord | None], None] = lambda _: None,
    patience_seconds: float = PATIENCE_SECONDS,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Finished:
    """Run to the end, with `environment` beside ours; both outputs are appended to `log`. Whatever
    interrupts the wait ends the program first."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        program = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
            start_new_session=True,
            preexec_fn=ASKED_TO_END_WITH_PARENT,
        )
    try:
        started(processes.describe(program.pid))
        if not ended_within(program, at_most_seconds):
            return Finished(end(program, patience_seconds), hung=True)
        return Finished(exit_code(program))
    except BaseException:
        end(program, patience_seconds)
        raise


def end(program: subprocess.Popen[bytes], patience_seconds: float) -> int:
    """Ask it to end, then kill it and what it started in its session; its exit code."""
    if not ended_within(program, 0):
        os.kill(program.pid, signal.SIGTERM)
    if not ended_within(program, patience_seconds):
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        ended_within(program, KILLED_WITHIN_SECONDS)
    return exit_code(program)
