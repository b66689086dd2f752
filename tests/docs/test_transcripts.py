"""README and tutorial show what a terminal shows: their commands are run, in order, in a copy of
the sources, on the simulator.

Commands that take minutes are run where SHADOWLAB_MANUAL is set (`make manual`).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from lab.run.judge import Judge
from tests.docs.pages import ROOT, blocks
from tests.docs.transcript import first_difference

PAGES = ("README.md", "docs/tutorial.md")
SOURCES = ("defects", "lab", "nodes", "scenarios", "spark_eval", "pyproject.toml")
IN_MINUTES = ("sweep", "shrink", "runs/shrunk")
WHOLE = bool(os.environ.get("SHADOWLAB_MANUAL"))
LONGEST_SECONDS = 3600  # however busy the machine is
PROGRAM = ".venv/bin/shadowlab"


@dataclass(frozen=True, slots=True)
class Session:
    """Commands of a page, and what it shows below them."""

    commands: str
    shown: str

    @property
    def takes_minutes(self) -> bool:
        return any(word in self.commands for word in IN_MINUTES)


def sessions(page: str) -> list[Session]:
    """Every block of commands that a block without a language follows, in order."""
    return [
        Session(block.text, after.text)
        for block, after in pairwise(blocks(page))
        if block.language == "sh" and after.language == ""
    ]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    with Judge(tmp_path_factory.mktemp("judge") / "judge.log") as judge:
        yield judge


@pytest.mark.slow
@pytest.mark.timeout(LONGEST_SECONDS)
@pytest.mark.parametrize("page", PAGES)
def test_a_terminal_shows_what_the_page_shows(page: str, tmp_path: Path, judge: Judge) -> None:
    copy_sources(tmp_path)
    for session in sessions(page):
        if WHOLE or not session.takes_minutes:
            printed = typed(session.commands, tmp_path, judge)
            differs = first_difference(session.shown, printed)
            assert differs is None, f"{page} shows\n{differs}\n\nbut a terminal\n{printed}"


def test_a_page_has_commands_that_are_run_with_every_test() -> None:
    for page in PAGES:
        assert any(not session.takes_minutes for session in sessions(page)), page


@pytest.mark.parametrize(
    ("shown", "fits"),
    [
        ("a\nb\nc\n", True),
        ("a\n…\nc\n", True),
        ("…\nc\n", True),
        ("a\n…\n", True),
        ("a\nb…\nc\n", True),
        ("a\n", False),  # there is more
        ("b\n…\n", False),  # it does not begin so
        ("a\nc\n", False),  # they do not follow each other
        ("…\nc\n…\nb\n…\n", False),  # not in this order
        ("a\nx…\n…\n", False),
    ],
)
def test_an_ellipsis_stands_for_lines_and_nothing_else_does(shown: str, fits: bool) -> None:
    assert (first_difference(shown, "a\nb\nc\n") is None) == fits


def test_dates_and_durations_are_the_machines_own() -> None:
    page = "runs/calm/20261121T041244Z-7: simulated in 0.8 s, 59:00 min of lab time\n"
    assert first_difference(page, page.replace("1121", "1224").replace("0.8", "12.3")) is None
    assert first_difference(page, page.replace("Z-7", "Z-8")) is not None
    assert first_difference("0:08:01.360  par-mbx1\n", "0:08:01.358  par-mbx1\n") is None
    assert first_difference("0:08:01.360  par-mbx1\n", "0:08:02.360  par-mbx1\n") is not None


def copy_sources(folder: Path) -> None:
    """What the commands of a page need and may change, with a program of the same name."""
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    program = folder / PROGRAM
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m lab.cli "$@"\n')
    program.chmod(0o755)
    if WHOLE:  # one of them checks a file out
        commit = "-c user.name=a -c user.email=a@example.org commit -qm all"
        for command in ("init -q", f"add {' '.join(SOURCES)}", commit):
            subprocess.run(["git", *shlex.split(command)], cwd=folder, check=True)


def typed(commands: str, folder: Path, judge: Judge) -> str:
    """What a terminal shows of them, stdout and stderr as they come, with paths as seen from
    `folder`; any exit code will do.
    """
    environment = {**os.environ, **judge.environment(), "PYTHONPATH": str(folder), "COLUMNS": "100"}
    done = subprocess.run(
        ["bash", "-c", commands],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    return done.stdout.replace(f"{folder}/", "")
