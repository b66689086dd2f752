"""How a run is asked for, and how it ends: options, outcome, and the judging at its end.

The same for every host. What a run means is the evaluation's to say.
"""

import shlex
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lab.program.errors import (
    GROUND_FAILED,
    INTERRUPTED,
    VERDICTS,
    LabError,
    print_error,
)
from lab.program.outer_edge import refusal
from lab.program.watchdog import Interrupted, Watchdog
from lab.program.whole_file import write_whole
from lab.record.file_list import write_file_list
from lab.record.folder import VERDICT, RunFolder, point_latest
from lab.run.durations import Durations

Say = Callable[[str], None]


class Judging(Protocol):
    """An evaluation that is ready, or getting ready, and waits for the record to be whole."""

    def judge(self) -> int: ...

    def abandon(self) -> None: ...


BeginEvaluation = Callable[[Path], Judging]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`runs` takes run folders, `state` what lives only as long as the run; `scenario` is
    the scenario as authored; `keep` leaves the lab standing; `announce` is a file that gets the
    run folder's path as soon as there is one, for who started the run as a program;
    `summary_to_stderr` keeps what the evaluation prints out of stdout."""

    runs: Path = Path("runs")
    state: Path = Path(".shadowlab")
    scenario: str | None = None
    keep: bool = False
    announce: Path | None = None
    summary_to_stderr: bool = False

    def tell_folder(self, folder: Path) -> None:
        """Write the path of the run folder where it was asked for."""
        if self.announce is not None:
            self.announce.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.announce, f"{folder.absolute()}\n")


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """0 pass, 1 fail, 2 unknown, 3 the lab could not do its work, 130 a person ended it."""

    folder: Path
    exit_code: int


@dataclass(frozen=True, slots=True)
class Ending:
    """How the run ended; exit code 0 when it went its whole way."""

    exit_code: int = 0
    cause: str = ""
    hint: str = ""


def conclude(folder: Path, ending: Ending, judging: Judging | None, say: Say) -> RunOutcome:
    """Judge a run that went its whole way; say why one did not."""
    if ending.exit_code == 0 and judging is not None:
        ending = _close(folder, judging) or _judge(folder, judging, say)
        _point_latest(folder, ending, say)
    if ending.cause:
        print_error(LabError(ending.exit_code, ending.cause, ending.hint))
    return RunOutcome(folder, ending.exit_code)


def _close(folder: Path, judging: Judging) -> Ending | None:
    """The record is whole: list what it is. How it ended where that cannot be written."""
    try:
        write_file_list(folder)
    except OSError as error:
        judging.abandon()
        return refused(error)
    return None


def _point_latest(folder: Path, ending: Ending, say: Say) -> None:
    if ending.exit_code in VERDICTS or (folder / VERDICT).is_file():
        try:
            point_latest(folder)
        except OSError as error:
            say(f"latest does not lead to this run: {error}")


def refused(error: OSError) -> Ending:
    """What the machine refuses (room, a right) is no bug of the lab."""
    found = refusal(error)
    return Ending(found.exit_code, found.cause, found.hint)


def bug(folder: RunFolder, cause: str) -> Ending:
    """Of the exception that is being handled; its traceback is kept in the run folder."""
    try:
        folder.write_text("error.txt", traceback.format_exc())
    except OSError:
        return Ending(GROUND_FAILED, cause, "its traceback could not be written")
    return Ending(GROUND_FAILED, cause, f"the traceback is in {folder.path}/error.txt")


def say_to_stderr(line: str) -> None:
    """A terminal that has gone keeps nobody from taking a lab down."""
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def span(seconds: float) -> str:
    """A span for a person: `45 s`, `4:05 min`, `3:20 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole // 60 % 60:02} h"


def _judge(folder: Path, judging: Judging, say: Say) -> Ending:
    """The evaluation's exit code, as the ending of a run that went its whole way."""
    durations, scenario = Durations(folder.parent.parent), folder.parent.name
    about = durations.expected("evaluation", scenario)
    say(f"evaluating, about {span(about)}")
    began = time.monotonic()
    try:
        with Watchdog(say):
            code = judging.judge()
        durations.note(time.monotonic() - began, "evaluation", scenario)
        return Ending(code)
    except Interrupted as signal_name:
        hint = f"shadowlab evaluate {shlex.quote(str(folder))} does it again"
        return Ending(INTERRUPTED, f"the evaluation was ended by {signal_name}", hint)
    except LabError as error:
        return Ending(error.exit_code, error.cause, error.hint)
