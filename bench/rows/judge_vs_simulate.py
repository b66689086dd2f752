"""A batch of a sweep: the time that judging it takes beside the time that simulating it takes.

Each has the machine to itself, and has done a batch before. `python -m bench.rows.judge_vs_simulate
FOLDER` simulates, in a process of its own, since a Spark session lives as long as its process.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.result import Result, beside
from lab.campaigns.batches import Batch
from lab.campaigns.sweep.judge import SweepJudge
from lab.campaigns.sweep.sweep import Seeds, Sweep
from lab.program.errors import GroundError
from lab.validation.library import load_scenario

SCENARIO, PER_BATCH, BATCHES = "one-server-at-a-time", 250, 2
MASTER = "local[2]"


def measure() -> Result:
    """Seconds of wall time of the second batch; aim of the ratio: 1. Raises GroundError."""
    with TemporaryDirectory(prefix="shadowlab-bench-") as folder:
        simulating = _simulated(Path(folder))
        judging = _judged(Path(folder))
    against = f"simulating {PER_BATCH} seeds, each alone; aim 1"
    return beside("judge_vs_simulate", judging, simulating, "s", against)


def _simulated(folder: Path) -> float:
    command = [sys.executable, "-m", "bench.rows.judge_vs_simulate", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise GroundError(f"the batches were not simulated: {done.returncode}")
    return float(json.loads(done.stdout))


def _judged(folder: Path) -> float:
    with SweepJudge(folder, master=MASTER) as judge:
        return [judge.judge_now(name).seconds for name, _, _ in _seeds().batches()][-1]


def _seeds() -> Seeds:
    return Seeds(1, BATCHES * PER_BATCH, PER_BATCH)


def _simulate_here(folder: Path) -> float:
    checked, mistakes = load_scenario(SCENARIO)
    assert checked is not None, mistakes
    sweep = Sweep(checked, _seeds(), folder, MASTER)
    sweep.describe()
    return [_timed(sweep, batch) for batch in sweep.batches()][-1]


def _timed(sweep: Sweep, batch: Batch) -> float:
    began = time.monotonic()
    sweep.work.simulate(batch)
    return time.monotonic() - began


if __name__ == "__main__":
    print(json.dumps(_simulate_here(Path(sys.argv[1]))))
