"""What a seed of a sweep costs: a three-hour scenario of 200 messages, planned, simulated, written.

CPU time of one task after start-up, as an executor does it; judging comes on top.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from bench.result import Result, alone
from bench.simulated import scenario
from lab.campaigns.sweep.task import SeedTask, carry_out

SEEDS = 8


def measure() -> Result:
    """Milliseconds a seed; aim: 300."""
    checked = scenario("2h30m", "80/h", "29m")
    with TemporaryDirectory(prefix="shadowlab-bench-") as folder:
        model, topology = checked.scenario, checked.topology
        carry_out(SeedTask(model, topology, (0,), Path(folder)))
        done = carry_out(SeedTask(model, topology, tuple(range(1, SEEDS + 1)), Path(folder)))
    return alone("milliseconds_per_seed", done.cpu_seconds * 1000 / SEEDS, "ms", "aim 300")
