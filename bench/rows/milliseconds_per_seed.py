"""What a seed of a sweep costs: a three-hour scenario of 200 messages, planned, simulated, judged.

CPU time of one task after start-up, as an executor does it.
"""

from bench.result import Result, alone
from bench.simulated import scenario
from lab.campaigns.sweep.task import SeedTask
from lab.campaigns.task import carry_out

SEEDS = 8


def measure() -> Result:
    """Milliseconds a seed; aim: 300."""
    checked = scenario("2h30m", "80/h", "29m")
    model, topology = checked.scenario, checked.topology
    carry_out(SeedTask(model, topology, (0,)))
    done = carry_out(SeedTask(model, topology, tuple(range(1, SEEDS + 1))))
    return alone("milliseconds_per_seed", done.cpu_seconds * 1000 / SEEDS, "ms", "aim 300")
