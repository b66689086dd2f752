"""Which faults met which part of a message's life."""

from __future__ import annotations

import pytest

from spark_eval.next.results.coverage import coverage_of
from tests.spark_eval.next.results.made import made
from tests.spark_eval.runs.failover_runs import MOUNTED, lossy
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, Run, empty, user


def _coverage(run: Run) -> dict[str, dict[str, int]]:
    made_of = made(run)
    return coverage_of(made_of.messages, made_of.run)


@pytest.mark.parametrize(
    ("from_s", "to_s", "phases"),
    [
        (0, 59, []),
        (60, 61, ["queued", "shadowing", "submitting"]),
        (61.8, 61.9, ["queued"]),
        (62, 62.05, ["awaiting-discard", "queued"]),
        (90, 91, ["awaiting-discard"]),
        (120.1, 121, ["awaiting-discard", "in-safety-net"]),
        (200, 201, ["in-safety-net"]),
    ],
)
def test_a_message_meets_a_fault_in_the_phases_that_it_is_in(
    from_s: float, to_s: float, phases: list[str]
) -> None:
    """Submitted at 60 s, received at 60.5, done at 62, let go at 120.1."""
    run = empty()
    run.deliver(MINUTE, [user(1)])
    run.cut("par-mbx1", "lyo-mbx2", round(from_s * 1000), round(to_s * 1000) - 200)
    assert _coverage(run) == {phase: {"cut-refuse": 1} for phase in phases}


def test_a_fault_concerns_the_servers_that_have_the_message() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    run.deliver(MINUTE, [user(1)], primary="par-mbx2", shadow="lyo-mbx2")
    run.away("pause", "lyo-mbx1", HOUR, 2 * HOUR)
    run.cut("par-mbx1", "par-mbx2", HOUR, 2 * HOUR, kind="stall", fault="f2")
    assert _coverage(run) == {"in-safety-net": {"cut-stall": 2, "pause": 1}}


def test_while_it_is_submitted_a_message_meets_faults_of_those_that_were_asked() -> None:
    run = empty()
    sent = run.submit(MINUTE, [user(1)])
    run.attempt(sent, "lyo-mbx2", MINUTE, "failed", "451 4.4.0 no", 2 * MINUTE)
    run.away("pause", "lyo-mbx2", MINUTE, 3 * MINUTE)
    assert _coverage(run) == {"submitting": {"pause": 1}}


def test_a_failover_counts_like_a_fault_from_its_mount_until_all_knew() -> None:
    run = lossy().run
    run.deliver(MOUNTED + 3 * SECOND, [user(1)], primary="par-mbx2")
    run.deliver(MOUNTED + MINUTE, [user(1)], primary="par-mbx2")
    assert _coverage(run)["submitting"] == {"failover": 1}
