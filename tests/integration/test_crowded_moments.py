"""Faults that begin or end within the same second: each has its evidence, on containers.

Several groups, one behind the other, in one plan; the simulator is asked for a hundred of them
(tests/lab/simulator). What the run means is not judged here.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.hosts.containers.images.ensure import Images
from lab.run.live import run
from lab.run.outcome import RunOptions
from tests.lab.hosts.simulator.test_replayed_folder import Unjudged
from tests.lab.plan.crowded_plans import FIRST_MS, GAP_MS, crowded, plan_of, without_evidence

pytestmark = pytest.mark.engine

SPEED = 15.0  # the shortest fault takes four seconds of the host
PACKED = [(19, 24, 36, 96)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("numbers", PACKED)
def test_every_fault_is_seen_to_apply_and_to_heal(
    numbers: Sequence[int], tmp_path: Path, lab_images: Images
) -> None:
    groups = [crowded(each, FIRST_MS + at * GAP_MS) for at, each in enumerate(numbers)]
    plan = plan_of(groups, SPEED)
    options = RunOptions(runs=tmp_path / "runs", state=tmp_path / "state", scenario="version: 1\n")
    outcome = run(plan, options, begin_evaluation=Unjudged)
    assert outcome.exit_code == 0
    lines = {
        name: (outcome.folder / name).read_text("utf-8").splitlines()
        for name in ("faults.jsonl", "operations.jsonl")
        if (outcome.folder / name).exists()
    }
    missing = without_evidence(lines["faults.jsonl"], lines.get("operations.jsonl", []), plan)
    assert missing == [], groups
