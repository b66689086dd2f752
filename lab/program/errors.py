"""What the lab says when it cannot do what was asked: one cause, one hint, one exit code.

Exit codes are those of every command: 0 pass, 1 fail, 2 unknown, 3 the lab could not do its
work, 4 the scenario or the call is wrong. Verdicts are return values and never raised; only
what stops the work is an error, and it crosses the outer edge as two lines without a traceback.
"""

import sys
from collections.abc import Iterable
from typing import TextIO

from lab.program.ending import INTERRUPTED as INTERRUPTED
from lab.program.printable import printable

PASS, FAIL, UNKNOWN, GROUND_FAILED, CALL_WRONG = 0, 1, 2, 3, 4
VERDICTS = {PASS: "pass", FAIL: "fail", UNKNOWN: "unknown"}
CAUSE_MAX = 2_000  # characters
WORST_FIRST = (GROUND_FAILED, FAIL, UNKNOWN, PASS)


def worst(codes: Iterable[int]) -> int:
    """Of several verdicts, and of what came up on the way to them; of none it is a pass."""
    known = (*codes, PASS)
    return next(each for each in WORST_FIRST if each in known)


class LabError(Exception):
    """Something that stops the lab: `cause` in one line, `hint` what to do, `exit_code` 3 or 4."""

    def __init__(self, exit_code: int, cause: str, hint: str = "") -> None:
        super().__init__(cause)
        self.exit_code = exit_code
        self.cause = cause
        self.hint = hint


class ScenarioError(LabError):
    """The scenario or the call is wrong; nothing was started (exit 4)."""

    def __init__(self, cause: str, hint: str = "") -> None:
        super().__init__(CALL_WRONG, cause, hint)


class GroundError(LabError):
    """The lab itself could not do its work: engine, image, port, playbook (exit 3)."""

    def __init__(self, cause: str, hint: str = "") -> None:
        super().__init__(GROUND_FAILED, cause, hint)


def print_error(error: LabError, stream: TextIO | None = None) -> int:
    """Write the cause on one line and the hint on the next, and give the exit code back."""
    target = sys.stderr if stream is None else stream
    print("shadowlab: " + printable(error.cause, CAUSE_MAX), file=target)
    if error.hint:
        print("hint: " + printable(error.hint, CAUSE_MAX), file=target)
    return error.exit_code
