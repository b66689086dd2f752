"""Wall time of a whole run, from the command to its verdict, against the timeline that it carries
out.

The images are there. What comes on top of the timeline is provisioning, the steady state, the
take-down and the evaluation.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.result import Result, beside
from lab.hosts.containers import engine
from lab.hosts.containers.images import ensure as images
from lab.plan.plan import Plan
from lab.program.errors import GroundError

SCENARIO = "primary-loses-its-queue-database"
SCENARIOS = Path(__file__).parents[1] / "scenarios"


def measure() -> Result:
    """Seconds; aim: a ratio of 1.5. Raises GroundError where the run reached no verdict."""
    images.ensure(engine.connect(), lambda line: print(line, file=sys.stderr))
    with tempfile.TemporaryDirectory(prefix="shadowlab-bench-") as folder:
        (Path(folder) / "scenarios").symlink_to(SCENARIOS)
        begun = time.monotonic()
        done = _shadowlab(Path(folder))
        ours = time.monotonic() - begun
        if done.returncode not in (0, 1, 2):
            raise GroundError(f"the run ended with {done.returncode}", done.stderr.strip()[-500:])
        return beside("run_vs_timeline", ours, _timeline_s(Path(folder)), "s", "its own timeline")


def _shadowlab(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        str(Path(sys.executable).with_name("shadowlab")),
        "run",
        SCENARIO,
        "--on",
        "containers",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def _timeline_s(folder: Path) -> float:
    plan = Plan.from_json((folder / "runs" / "latest" / "plan.json").read_text())
    return plan.duration_ms / plan.clock.speed / 1000
