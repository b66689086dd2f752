"""Seeds of a sweep: the time that judging them takes beside the time that simulating them takes.

CPU time in one process, as a task does it, after one that loads what is needed.
"""

import time

from bench.result import Result, beside
from lab.campaigns.run import bytes_of
from lab.campaigns.sweep.task import SeedTask
from lab.validation.library import load_scenario
from spark_eval.sweep.result import result_of

SCENARIO, SEEDS = "one-server-at-a-time", 50


def measure() -> Result:
    """Seconds of all seeds; aim of the ratio: 0.35."""
    _measured(range(1))
    judging, simulating = _measured(range(1, SEEDS + 1))
    against = f"simulating {SEEDS} seeds; aim 0.35"
    return beside("judge_vs_simulate", judging, simulating, "s", against)


def _measured(seeds: range) -> tuple[float, float]:
    checked, mistakes = load_scenario(SCENARIO)
    assert checked is not None, mistakes
    judging = simulating = 0.0
    for run in SeedTask(checked.scenario, checked.topology, tuple(seeds)).runs():
        began = time.process_time()
        files = bytes_of(run.plan, run.simulate(keeps_inputs=False))
        simulated = time.process_time()
        result_of(run.name, run.plan.seed, files)
        simulating += simulated - began
        judging += time.process_time() - simulated
    return judging, simulating
