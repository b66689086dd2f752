"""Seeds a second of a sweep with two executors against one, start-up left out.

Each side is a Spark of its own, after a first round that brings its workers up.
"""

import json
import subprocess
import sys
import time

from bench.result import Result, beside
from bench.simulated import scenario
from lab.campaigns.sweep.executors import run_tasks
from lab.campaigns.sweep.task import SeedTask
from lab.program.errors import GroundError

SEEDS, TASKS = 48, 8


def measure() -> Result:
    """Seeds a second; aim: 1.8 times. Raises GroundError where Spark does not start."""
    two, one = _seeds_per_second(2), _seeds_per_second(1)
    return beside("sweep_scaling", two, one, "seeds/s", "one executor")


def _seeds_per_second(executors: int) -> float:
    command = [sys.executable, "-m", "bench.rows.sweep_scaling", str(executors)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise GroundError("the sweep could not be measured", done.stderr.strip()[-500:])
    return float(json.loads(done.stdout))


def _measure_here(executors: int) -> float:
    checked = scenario("1h", "60/h", "29m")
    size = SEEDS // TASKS

    def tasks(first: int, count: int) -> list[SeedTask]:
        model, topology = checked.scenario, checked.topology
        starts = range(first, first + count, size)
        return [SeedTask(model, topology, tuple(range(at, at + size))) for at in starts]

    master = f"local[{executors}]"
    run_tasks(master, tasks(0, size * executors))
    began = time.monotonic()
    done = run_tasks(master, tasks(1000, SEEDS))
    return sum(len(each.results) for each in done) / (time.monotonic() - began)


if __name__ == "__main__":
    print(json.dumps(_measure_here(int(sys.argv[1]))))
