"""The outer edge of every program of the lab: what it raised, as two lines and an exit code.

Nothing crosses it as a traceback, and nothing ends with 1 that is no verdict: what is expected ends
with its own code, what the machine refuses and what is a bug of the lab with 3, what a person ends
with 130. The traceback of a bug is kept in a file; with SHADOWLAB_DEBUG set it is shown instead. It
decides nothing else, and imports nothing that a container of the lab has not.
"""

import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress

from lab.program.ending import INTERRUPTED, Ending, Interrupted
from lab.program.errors import (
    CALL_WRONG,
    GROUND_FAILED,
    PASS,
    GroundError,
    LabError,
    print_error,
)

DEBUG = "SHADOWLAB_DEBUG"
OFF = ("", "0")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MAY_NOT = (errno.EACCES, errno.EPERM, errno.EROFS)
IN_THE_WAY = (errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG)


def guarded(work: Callable[[], int], *, shows_traceback: bool = False) -> int:
    """The exit code of `work`, whatever it raises; its output is written when this returns.

    `shows_traceback`: of a bug, on stderr, for a program whose stderr is collected.
    """
    _open_standard_streams()
    ending = Ending()
    try:
        with ending:
            code = work()
            sys.stdout.flush()
            return INTERRUPTED if ending.by else code
    except BaseException as error:
        code = INTERRUPTED if ending.by else _code_of(error, shows_traceback)
    _close_stdout()
    return code


def _code_of(error: BaseException, shows_traceback: bool) -> int:
    """Of what was raised without a signal; its cause is printed."""
    try:
        raise error
    except LabError as error:
        return print_error(error)
    except (KeyboardInterrupt, Interrupted):
        return print_error(LabError(INTERRUPTED, "ended by a signal"))
    except BrokenPipeError:
        return GROUND_FAILED  # whoever read stdout has gone
    except SystemExit as error:
        return _meant(error)
    except OSError as error:
        _show_traceback(shows_traceback)
        return print_error(refusal(error))
    except Exception as error:
        return print_error(_bug(error, shows_traceback))


def _meant(error: SystemExit) -> int:
    """1 and 2 are the codes with which libraries end a program; here they are verdicts."""
    if error.code in (None, PASS):
        return PASS
    return CALL_WRONG if error.code == CALL_WRONG else GROUND_FAILED


def refusal(error: OSError) -> GroundError:
    """`runs/calm: no space left on device`; without a path where the system names none."""
    said = (error.strerror or str(error) or type(error).__name__).lower()
    names = [os.fsdecode(name) for name in (error.filename,) if isinstance(name, str | bytes)]
    return GroundError(": ".join([*names, said]), _hint(error))


def _hint(error: OSError) -> str:
    if error.errno in NO_ROOM:
        return "make room; shadowlab prune removes old runs"
    if error.errno in MAY_NOT:
        return "this user must be able to write there"
    if error.errno in IN_THE_WAY:
        return "what stands in the way is no folder of the lab; move it, or work elsewhere"
    if error.errno == errno.ENOENT and not error.filename:
        return "the working directory may be gone; change to another"
    return f"with {DEBUG}=1 its traceback is shown"


def _bug(error: Exception, shows_traceback: bool) -> LabError:
    if isinstance(error, ImportError):
        return GroundError(f"a library is missing: {error}", "make venv installs it")
    cause = f"a bug of the lab: {type(error).__name__}: {error}"
    if _show_traceback(shows_traceback):
        return GroundError(cause)
    try:
        descriptor, name = tempfile.mkstemp(prefix="shadowlab-traceback-", suffix=".txt")
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(traceback.format_exc())
    except OSError:
        return GroundError(cause, f"with {DEBUG}=1 its traceback is shown")
    return GroundError(cause, f"the traceback is in {name}")


def _show_traceback(wanted: bool) -> bool:
    if wanted or os.environ.get(DEBUG, "") not in OFF:
        traceback.print_exc()
        return True
    return False


def _open_standard_streams() -> None:
    """None may be closed: a file of the record would get its number, and whatever is printed.
    What cannot be encoded is escaped."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (for the life of the program)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _close_stdout() -> None:
    """What could not be written must not be tried again at exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
