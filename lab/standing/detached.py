"""A program that goes on when the terminal is a person's again: it stands by a lab.

It begins in a session of its own. Until the lab stands it speaks to the terminal that began it, and
hears its Ctrl-C; from then on to a file of the run folder.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.program.ending import Interrupted

LOG, OUT = "evaluation/by-hand.log", "evaluation/by-hand.txt"
"""What it says meanwhile, and what it prints at its end; beside the record, and no part of it."""


def begin(command: Sequence[str]) -> tuple[list[str], int | None]:
    """What it printed until it let the terminal go; its exit code where it has ended by then."""
    program = subprocess.Popen(
        [sys.executable, "-m", "lab.cli", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while True:
        try:
            printed = list(_lines(program))
            return printed, program.poll() if printed else program.wait()
        except (KeyboardInterrupt, Interrupted):
            program.send_signal(signal.SIGINT)


def let_the_terminal_go(folder: Path) -> None:
    """What is printed from now on goes to files."""
    (folder / LOG).parent.mkdir(exist_ok=True)
    for stream, name in ((sys.stdout, OUT), (sys.stderr, LOG)):
        stream.flush()
        file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(file, stream.fileno())
        os.close(file)


def _lines(program: subprocess.Popen[str]) -> Iterator[str]:
    assert program.stdout is not None
    for line in program.stdout:
        yield line.rstrip("\n")
