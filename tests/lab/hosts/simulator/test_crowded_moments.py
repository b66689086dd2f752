"""Faults that begin or end within the same second: each has its evidence, simulated."""

import pytest

from lab.hosts.simulator.simulation import simulate
from tests.lab.plan.crowded_plans import crowded, plan_of, without_evidence

pytestmark = pytest.mark.slow

PLANS = 100


@pytest.mark.parametrize("number", range(PLANS))
def test_every_fault_is_seen_to_apply_and_to_heal(number: int) -> None:
    plan = plan_of([crowded(number)])
    record = simulate(plan, keeps_inputs=False)
    files = record.files
    missing = without_evidence(files["faults.jsonl"], files.get("operations.jsonl", []), plan)
    assert missing == [], crowded(number)
