"""What the simulator's measurements simulate: six servers in two sites, Exchange's own defaults.

No fault: what is measured is the traffic, its shadows, heartbeats, discards and Safety Nets.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from lab.validation.validate import CheckedScenario, check

SCENARIO = """\
version: 1
scenario: bench
summary: Traffic to measure the simulator with.
topology: two-site-dag
workload: [{{mail: inbound, at: 1m, for: {lasts}, rate: {rate}, recipients: 1..3}}]
settle: {settle}
"""


def scenario(lasts: str, rate: str, settle: str) -> CheckedScenario:
    """Mail at that rate for so long, and the settling after it."""
    with TemporaryDirectory(prefix="shadowlab-bench-") as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(SCENARIO.format(lasts=lasts, rate=rate, settle=settle), encoding="utf-8")
        checked = check([path])
    assert not checked.mistakes, checked.mistakes
    return checked.scenarios[0]
