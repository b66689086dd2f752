"""The outer edge of every program of the evaluation: nothing leaves it as a traceback, and nothing
but a verdict ends with 0, 1 or 2.

What a machine refuses or a bug breaks ends with 3, what a person ends with 130. The traceback of a
bug is kept in a file; with SHADOWLAB_DEBUG set it is shown instead.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress

from spark_eval.program.ending import Ending
from spark_eval.program.exit_codes import CRASHED, INTERRUPTED, WRONG_CALL
from spark_eval.program.printable import visible

DEBUG = "SHADOWLAB_DEBUG"
OFF = ("", "0")


def guarded(work: Callable[[], int]) -> int:
    """The exit code of `work`, whatever it raises; its output is written when this returns."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (for the life of the program)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    ending = Ending()
    try:
        with ending:
            code = work()
            sys.stdout.flush()
            return INTERRUPTED if ending.by else code
    except BaseException as error:
        code = INTERRUPTED if ending.by else _code_of(error)
    _close_stdout()
    return code


def _code_of(error: BaseException) -> int:
    """Of what was raised without a signal; its cause is printed."""
    try:
        raise error
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return CRASHED  # whoever read stdout has gone
    except SystemExit as error:
        return _meant(error)
    except Exception as error:
        said = visible(" ".join(str(error).split()))
        _complain(f"error: {type(error).__name__}: {said}\nhint: {_hint()}")
        return CRASHED


def _meant(error: SystemExit) -> int:
    """1 and 2 are the codes with which libraries end a program; here they are verdicts."""
    if error.code is None or error.code in (0, WRONG_CALL):
        return error.code or 0
    return CRASHED


def _hint() -> str:
    if os.environ.get(DEBUG, "") not in OFF:
        traceback.print_exc()
        return "the traceback is above"
    try:
        descriptor, name = tempfile.mkstemp(prefix="shadowlab-traceback-", suffix=".txt")
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(traceback.format_exc())
    except OSError:
        return f"with {DEBUG}=1 its traceback is shown"
    return f"the traceback is in {name}"


def _complain(text: str) -> None:
    """On a full disk nobody may hear it; the exit code stays what it is."""
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _close_stdout() -> None:
    """What could not be written must not be tried again at exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
