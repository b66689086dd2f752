"""A bar is for a terminal; a pipe gets lines alone, and stdout is never touched."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from lab.program.progress import waiting

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys
from lab.program.progress import waiting
with waiting("evaluating", 0.5):
    print("said meanwhile", file=sys.stderr)
    print("data")
"""


def test_a_pipe_gets_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting("evaluating", 10):
        print("data")
    assert capsys.readouterr() == ("data\n", "")


def on_a_terminal(**environment: str) -> tuple[str, str]:
    """Stdout, and what a terminal at stderr was sent."""
    ours, theirs = pty.openpty()
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=theirs, env=own, timeout=60
    )
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:
        pass  # the other end is closed: that is all
    os.close(ours)
    assert done.returncode == 0
    return done.stdout.decode(), shown.decode()


def test_a_terminal_gets_a_bar_with_the_time_that_is_expected() -> None:
    out, shown = on_a_terminal()
    assert out == "data\n"
    assert "evaluating" in shown
    assert "of about 0:00" in shown
    assert "said meanwhile" in shown


def test_a_terminal_that_moves_no_cursor_gets_lines() -> None:
    assert on_a_terminal(TERM="dumb") == ("data\n", "said meanwhile\r\n")


def test_a_bar_has_no_colour_where_none_is_wanted() -> None:
    assert "\x1b[3" not in on_a_terminal(NO_COLOR="1")[1].replace("\x1b[3A", "")
