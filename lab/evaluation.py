"""The evaluation, started as a program: the lab shares no code with what judges it.

`python -m spark_eval <run folder>` prints its summary to stdout and tells the verdict by its exit
code. It dies with the lab: the kernel kills it when the lab's process ends, however that ends.
"""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

from lab.errors import GroundError
from lab.hosts.containers.processes import RUN_MARK

VERDICT_CODES = (0, 1, 2, 3)
_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG, prctl(2)
_C_LIBRARY = ctypes.CDLL(None, use_errno=True)


def evaluate(folder: Path, run_id: str) -> int:
    """The exit code of the evaluation: 0 pass, 1 fail, 2 unknown, 3 it could not do its work.

    Raises GroundError when it ended in no way that it knows.
    """
    command = [sys.executable, "-m", "spark_eval", str(folder)]
    with subprocess.Popen(
        command,
        env=os.environ | {RUN_MARK: run_id},
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,
    ) as program:
        try:
            code = program.wait()
        except BaseException:
            program.terminate()
            raise
    if code not in VERDICT_CODES:
        ended = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        raise GroundError(
            f"the evaluation ended {ended}", f"shadowlab evaluate {folder} does it again"
        )
    return code


def _die_with_parent() -> None:
    """In the child, before its program: only a system call, no import and no lock."""
    _C_LIBRARY.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
