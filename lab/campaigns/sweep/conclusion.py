"""One verdict of a sweep, from the results of its runs: the evaluation's, a program of its own."""

import subprocess
import sys
from pathlib import Path

from lab.program.death_signal import KILLED_WITH_PARENT
from lab.program.errors import GroundError


def conclude(folder: Path) -> tuple[int, str]:
    """Let it write verdict.json and report.html; its exit code and its words. Raises GroundError
    where it has no verdict.
    """
    done = subprocess.run(
        [sys.executable, "-m", "spark_eval", "--sweep", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=KILLED_WITH_PARENT,
    )
    if not done.stdout:
        said = [*done.stderr.strip().splitlines(), f"it ended with {done.returncode}"]
        cause, hint = said[0].removeprefix("error: "), said[1].removeprefix("hint: ")
        raise GroundError(f"the sweep has no verdict: {cause}", hint)
    return done.returncode, done.stdout.rstrip("\n")
