"""Rows of shadow messages, promotions and discards."""

from __future__ import annotations

from tests.spark_eval.results.made import made, of
from tests.spark_eval.runs.run_builder import (
    HEARTBEAT,
    MINUTE,
    SECOND,
    SPAN,
    TIMEOUT,
    Run,
    empty,
    user,
)

DUE = 8 * MINUTE + SPAN


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


def test_a_promoted_shadow_message_says_when() -> None:
    (row, _) = made(promoted(empty(), DUE + 30 * SECOND)).tables["shadows"]
    assert of(row, "promoted_ms", "discarded_ms") == (DUE + 30 * SECOND, None)


def test_a_promotion_has_its_bounds_and_both_judgements() -> None:
    run = promoted(empty(), DUE + 30 * SECOND)
    made_of = made(run)
    assert made_of.one("promotions") == {
        "message_id": run.ledger[0]["message_id"],
        "shadow_server": "lyo-mbx1",
        "primary_server": "par-mbx1",
        "primary_database_id": run.database_ids["par-mbx1"],
        "cause": "resubmit-time-span",
        "held_ms": 9 * MINUTE + 300,
        "not_before_ms": DUE,
        # of what came a minute after the last contact, a heartbeat and an attempt that times out
        "not_after_ms": DUE + MINUTE + 300 + HEARTBEAT + TIMEOUT + 900,
        "expected": True,
        "promoted_ms": DUE + 30 * SECOND,
        "timeliness": "holds",
        "earliness": "holds",
        "reason": "",
        "early_reason": "",
    }
    (row,) = made_of.tables["promotions"]
    assert [ref["file"].split("/")[1] for ref in row["refs"]] == ["lyo-mbx1", "lyo-mbx1"]


def test_what_is_held_and_not_due_has_no_promotion() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    assert made(run).tables["promotions"] == []


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
    run = promoted(empty(), DUE + 30 * SECOND)
    bound_ms = MINUTE + 300 + HEARTBEAT + TIMEOUT + 900
    assert made(run).one("promotion_delays") == {
        "message_id": run.ledger[0]["message_id"],
        "shadow_server": "lyo-mbx1",
        "primary_server": "par-mbx1",
        "cause": "resubmit-time-span",
        "not_before_ms": DUE,
        "not_after_ms": DUE + bound_ms,
        "promoted_ms": DUE + 30 * SECOND,
        "delay_ms": 30 * SECOND,
        "bound_ms": bound_ms,
    }


def test_a_discard_has_its_order_and_its_deadline() -> None:
    run = empty()
    sent = run.deliver(MINUTE, [user(1)])
    made_of = made(run)
    done_ms = MINUTE + 2 * SECOND
    assert made_of.one("discards") == {
        "message_id": sent.message_id,
        "shadow_server": "lyo-mbx1",
        "primary_server": "par-mbx1",
        "held_ms": MINUTE + 300,
        "done_ms": done_ms,
        "reachable_ms": done_ms,
        # a heartbeat, half of one for the exchange, and what the clock resolves
        "not_after_ms": done_ms + HEARTBEAT + HEARTBEAT // 2 + 900,
        "discarded_ms": HEARTBEAT + 100,
        "order_status": "holds",
        "order_reason": "",
        "deadline_status": "holds",
        "deadline_reason": "",
    }
    (row,) = made_of.tables["discards"]
    assert [ref["line"] for ref in row["refs"]] == [7, 6]


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
