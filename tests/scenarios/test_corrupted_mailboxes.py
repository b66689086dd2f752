"""What a logical corruption does where nobody goes back behind it: what mailboxes had is lost, and
said to be, and nothing else is wrong.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.plan.operations import ActivateLagged
from lab.plan.plan import Plan
from spark_eval.judging.of_record import judge
from spark_eval.judging.results import ClaimResult
from spark_eval.read.folder.files import MemoryFiles
from tests.lab.hosts.simulator.plans import plan
from tests.scenarios.recorded import recorded_of

SEED = 7


def _judged(asked: Plan) -> dict[str, ClaimResult]:
    expect = replace(asked.expect, resubmissions=None)
    texts = recorded_of(replace(asked, expect=expect))
    files = {file: "".join(f"{line}\n" for line in lines).encode() for file, lines in texts.items()}
    return dict(judge(MemoryFiles(files)).results)


def _without_going_back() -> Plan:
    return replace(plan("back-in-time", SEED), operations=())


def _back_too_late() -> Plan:
    """To a moment at which the mailboxes were empty."""
    asked = plan("back-in-time", SEED)
    [operation] = asked.operations
    assert isinstance(operation, ActivateLagged)
    late = replace(operation, before_ms=operation.at_ms)
    return replace(asked, operations=(late,))


@pytest.mark.parametrize("asked", [_without_going_back(), _back_too_late()], ids=["not", "late"])
def test_what_mailboxes_had_is_lost_and_the_reason_is_named(asked: Plan) -> None:
    results = _judged(asked)
    assert [name for name, each in results.items() if each.status == "violated"] == ["no_loss"]
    details = {example.detail for example in results["no_loss"].examples}
    assert all(each.startswith("delivered, and lost with what mailboxes of") for each in details)
