"""What a person waits for who sweeps: from the command to the verdict of all seeds."""

import subprocess
import sys
import time
from tempfile import TemporaryDirectory

from bench.result import Result, alone
from lab.program.errors import GroundError

SCENARIO, SEEDS = "one-server-at-a-time", 1000


def measure() -> Result:
    """Seeds a second of wall time, all starts included; aim: 15. Raises GroundError."""
    command = [sys.executable, "-m", "lab.cli", "sweep", SCENARIO, "--seeds", str(SEEDS)]
    with TemporaryDirectory(prefix="shadowlab-bench-") as folder:
        began = time.monotonic()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
    if done.returncode not in (0, 1, 2):
        raise GroundError(f"the sweep ended with {done.returncode}", done.stderr[-500:])
    return alone("sweep_seeds_per_second", SEEDS / seconds, "seeds/s", f"{SEEDS} seeds; aim 15")
