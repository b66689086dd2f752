"""Which faults met which part of a message's life."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.results.sums import sums_of
from tests.spark_eval.results.made import made
from tests.spark_eval.runs.failover_runs import MOUNTED, lossy
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, Run, empty, user


def _coverage(run: Run) -> dict[str, dict[str, int]]:
    made_of = made(run)
    return sums_of(made_of.messages, made_of.run).coverage.numbers()


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


def test_between_two_attempts_it_is_still_submitted() -> None:
    run = empty()
    tried = {1: "failed", 2: "failed"}
    for sent in (run.submit(MINUTE, [user(1)]), run.submit(MINUTE, [user(1)])):
        for number, outcome in tried.items():
            at_ms = number * 10 * MINUTE
            run.attempt(sent, "par-mbx1", at_ms, outcome, "no", at_ms + SECOND, number)
        tried[2] = "ok"
    run.away("pause", "par-mbx1", 15 * MINUTE, 16 * MINUTE)
    assert _coverage(run) == {"submitting": {"pause": 2}}


def test_what_nobody_sent_meets_nothing() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    run.ledger = run.ledger[:1]
    run.away("pause", "par-mbx1", MINUTE, HOUR)
    assert _coverage(run) == {}


@pytest.mark.parametrize(
    ("at_ms", "phases"),
    [
        (9 * MINUTE + SECOND, ["queued"]),
        (20 * MINUTE, ["awaiting-discard"]),
        (45 * MINUTE, ["awaiting-discard"]),
        (55 * MINUTE, ["in-safety-net"]),
    ],
)
def test_of_several_copies_the_first_to_be_done_and_the_last_to_be_let_go_count(
    at_ms: int, phases: list[str]
) -> None:
    """Done at 9:02, promoted all the same, and let go at 40:32 and at 50 minutes."""
    run = empty()
    message = run.accept(9 * MINUTE, [user(1)])
    run.finish(message, 9 * MINUTE + 2 * SECOND)
    run.promote(message, 38 * MINUTE + 30 * SECOND, "resubmit-time-span", duplicate=True)
    run.let_go(message, 50 * MINUTE)
    run.cut("lyo-mbx1", "lyo-mbx2", at_ms, at_ms + SECOND // 2)
    assert _coverage(run) == {phase: {"cut-refuse": 1} for phase in phases}


def test_where_no_log_says_that_it_was_done_the_last_recipient_does() -> None:
    run = empty()
    message = run.accept(MINUTE, [user(1), user(2)])
    run.show(replace(message, recipients=[user(1)]), 70 * SECOND)
    run.show(replace(message, recipients=[user(2)]), 90 * SECOND)
    run.cut("par-mbx1", "lyo-mbx2", 80 * SECOND, 81 * SECOND)
    assert _coverage(run) == {"queued": {"cut-refuse": 1}}


def test_a_failover_counts_like_a_fault_from_its_mount_until_all_knew() -> None:
    run = lossy().run
    run.lifecycle["lyo-mbx1"] = [
        row for row in run.lifecycle["lyo-mbx1"] if row["event"] != "active-copy"
    ]
    run.deliver(MOUNTED + 3 * SECOND, [user(1)], primary="par-mbx2")
    run.deliver(MOUNTED + MINUTE, [user(1)], primary="par-mbx2")
    assert _coverage(run)["submitting"] == {"failover": 1}
