"""Rows of shadow messages, promotions and discards."""

from __future__ import annotations

from tests.spark_eval.next.results.made import made, of
from tests.spark_eval.runs.run_builder import HEARTBEAT, MINUTE, SECOND, SPAN, Run, empty, user


def test_a_shadow_message_has_a_row_with_all_that_speaks_of_it() -> None:
    run = empty()
    sent = run.deliver(MINUTE, [user(1)])
    made_of = made(run)
    assert made_of.one("shadows") == {
        "message_id": sent.message_id,
        "network_message_id": sent.network_id,
        "shadow_server": "lyo-mbx1",
        "primary_server": "par-mbx1",
        "primary_database_id": sent.database_id,
        "primary_internal_id": str(sent.internal_id),
        "attempts": 1,
        "held_ms": MINUTE + 300,
        "discarded_ms": HEARTBEAT + 100,
        "promoted_ms": None,
    }
    (row,) = made_of.tables["shadows"]
    assert [ref["file"].split("/")[1] for ref in row["refs"]] == [
        "par-mbx1", "lyo-mbx1", "lyo-mbx1",
    ]  # fmt: skip


def promoted(run: Run, at_ms: int, cause: str = "resubmit-time-span") -> Run:
    """After the last contact at 8 minutes, the primary server away from ten on."""
    run.heartbeats("lyo-mbx1", "par-mbx1", 2 * MINUTE, 10 * MINUTE)
    message = run.accept(9 * MINUTE, [user(1)])
    run.away("stop", "par-mbx1", 10 * MINUTE, 100 * MINUTE)
    run.promote(message, at_ms, cause)
    return run


def test_a_promotion_has_its_bounds_and_both_judgements() -> None:
    (row, *_) = made(promoted(empty(), 8 * MINUTE + SPAN + 30 * SECOND)).tables["promotions"]
    names = ("shadow_server", "primary_server", "cause", "held_ms", "expected", "promoted_ms")
    assert of(row, *names) == (
        "lyo-mbx1", "par-mbx1", "resubmit-time-span", 9 * MINUTE + 300, True,
        8 * MINUTE + SPAN + 30 * SECOND,
    )  # fmt: skip
    assert row["not_before_ms"] == 8 * MINUTE + SPAN
    assert of(row, "timeliness", "earliness", "reason", "early_reason") == (
        "holds",
        "holds",
        "",
        "",
    )
    assert [ref["file"].split("/")[1] for ref in row["refs"]] == ["lyo-mbx1", "lyo-mbx1"]


def test_an_early_promotion_says_why() -> None:
    (row, *_) = made(promoted(empty(), 30 * MINUTE)).tables["promotions"]
    assert of(row, "timeliness", "earliness") == ("holds", "violated")
    assert row["early_reason"].endswith("last contact 0:08:00.000, so not before 0:38:00.000")


def test_a_promotion_that_is_missing_has_a_row_and_no_delay() -> None:
    run = empty()
    run.heartbeats("lyo-mbx1", "par-mbx1", 2 * MINUTE, 10 * MINUTE)
    run.accept(9 * MINUTE, [user(1)])
    run.away("stop", "par-mbx1", 10 * MINUTE, 200 * MINUTE)
    made_of = made(run)
    row = made_of.one("promotions")
    assert of(row, "expected", "promoted_ms", "timeliness") == (True, None, "violated")
    assert row["reason"].startswith("lyo-mbx1 never promoted it; due by ")
    assert made_of.tables["promotion_delays"] == []


def test_a_promotion_delay_counts_from_its_cause() -> None:
    row = made(promoted(empty(), 8 * MINUTE + SPAN + 30 * SECOND)).one("promotion_delays")
    assert of(row, "delay_ms", "promoted_ms", "cause") == (
        30 * SECOND, 8 * MINUTE + SPAN + 30 * SECOND, "resubmit-time-span",
    )  # fmt: skip
    assert row["bound_ms"] == row["not_after_ms"] - row["not_before_ms"]


def test_a_discard_has_its_order_and_its_deadline() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    row = made(run).one("discards")
    names = ("held_ms", "done_ms", "reachable_ms", "discarded_ms")
    done_ms = MINUTE + 2 * SECOND
    assert of(row, *names) == (MINUTE + 300, done_ms, done_ms, HEARTBEAT + 100)
    assert row["not_after_ms"] > done_ms + HEARTBEAT
    statuses = ("order_status", "order_reason", "deadline_status", "deadline_reason")
    assert of(row, *statuses) == ("holds", "", "holds", "")


def test_a_shadow_message_that_was_let_go_too_soon_says_so() -> None:
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.let_go(message, MINUTE + 10 * SECOND)
    row = made(run).one("discards")
    reason = "lyo-mbx1 let it go; par-mbx1 did not log every recipient done"
    assert of(row, "order_status", "order_reason") == ("violated", reason)
    assert of(row, "deadline_status", "deadline_reason") == (None, "")


def test_a_shadow_message_that_nobody_let_go_is_asked_for_its_deadline_alone() -> None:
    run = empty()
    run.finish(run.accept(MINUTE, [user(1)]), MINUTE + 2 * SECOND)
    row = made(run).one("discards")
    assert of(row, "order_status", "deadline_status") == (None, "violated")
    assert row["discarded_ms"] is None
