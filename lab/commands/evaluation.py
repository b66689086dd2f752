"""The programs of the evaluation: started by the lab, never imported.

Their exit codes mean what those of every command mean.
"""

import signal
import subprocess
import sys
from pathlib import Path

from lab.errors import INTERRUPTED, GroundError

STDERR = 2
EVALUATION_CODES = (0, 1, 2, 3, 4)


def evaluation(folder: Path, *options: str, quiet: bool = False, to_stderr: bool = False) -> int:
    """Run the evaluation as a program; it prints its own verdict. Raises GroundError."""
    return program("spark_eval", str(folder), *options, quiet=quiet, to_stderr=to_stderr)


def program(module: str, *words: str, quiet: bool = False, to_stderr: bool = False) -> int:
    """Run a program of the evaluation; its exit code means what ours mean. `to_stderr`: what it
    prints is no data of ours. Raises GroundError."""
    said = subprocess.DEVNULL if quiet else STDERR if to_stderr else None
    command = [sys.executable, "-m", module, *words]
    code = subprocess.run(command, check=False, stdout=said).returncode
    if code in (INTERRUPTED, -signal.SIGINT, -signal.SIGTERM):
        raise KeyboardInterrupt
    if code not in EVALUATION_CODES:
        raise GroundError(f"the evaluation ended with {code}", "see what it printed above")
    return code
