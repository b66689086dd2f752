"""Lab time over wall time of the simulator on one core: an hour, 10 messages a minute.

Six servers in two sites, heartbeats and all; the record is made but for the inputs of the cores, as
in a sweep. Nothing is judged.
"""

import time
from statistics import median

from bench.result import Result, alone
from bench.simulated import scenario
from lab.hosts.simulator.simulation import simulate
from lab.planning.resolve import resolve

TIMES = 5


def measure() -> Result:
    """Lab seconds a second of CPU time, median of five seeds; aim: 10,000."""
    checked = scenario("1h", "10/m", "10m")
    ratios = []
    for seed in range(TIMES + 1):
        plan = resolve(checked.scenario, checked.topology, seed)
        began = time.process_time()
        simulate(plan, keeps_inputs=False)
        ratios.append(plan.duration_ms / 1000 / (time.process_time() - began))
    ours = median(ratios[1:])  # the first one warms up
    return alone("simulated_over_wall", ours, "lab s per s", "aim 10,000")
