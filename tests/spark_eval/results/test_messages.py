"""Rows of messages, attempts, deliveries and delays."""

from __future__ import annotations

from tests.spark_eval.results.made import made, of
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, empty, user

OUTSIDE = "someone@partner.example"


def test_a_message_names_who_acknowledged_it_its_shadows_and_what_became_of_them() -> None:
    run = empty()
    sent = run.deliver(MINUTE, [user(1), user(2)])
    assert made(run).one("messages") == {
        "message_id": sent.message_id,
        "mail": "inbound",
        "sender": "sender01@outside.example",
        "recipients": [user(1), user(2)],
        "submitted_ms": MINUTE,
        "attempts": 1,
        "outcome": "acknowledged",
        "acknowledged_server": "par-mbx1",
        "acknowledged_ms": MINUTE + 900,
        "internal_id": str(sent.internal_id),
        "database_id": sent.database_id,
        "network_message_id": sent.network_id,
        "unprotected": False,
        "shadow_servers": ["lyo-mbx1"],
        "promotions": 0,
        "discards": 1,
        "deliveries": 2,
        "first_delivery_ms": MINUTE + 2 * SECOND - 50,
        "last_delivery_ms": MINUTE + 2 * SECOND - 50,
    }


def test_a_message_without_a_shadow_is_unprotected() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)], shadow=None)
    row = made(run).one("messages")
    assert of(row, "unprotected", "shadow_servers", "discards") == (True, None, 0)


def test_whether_a_message_was_unprotected_nobody_knows_who_has_no_250() -> None:
    run = empty()
    sent = run.submit(MINUTE, [user(1)])
    run.attempt(sent, "par-mbx1", MINUTE, "failed", "451 4.4.0 no", MINUTE + 900)
    row = made(run).one("messages")
    assert of(row, "outcome", "acknowledged_server", "unprotected") == ("rejected", None, None)


def test_an_attempt_has_both_clocks_and_the_id_of_its_reply() -> None:
    run = empty()
    sent = run.accept(MINUTE, [user(1)])
    run.ledger[-1]["reason"] = "said so"
    row = made(run).one("attempts")
    assert row == {
        "message_id": sent.message_id,
        "attempt": 1,
        "server": "par-mbx1",
        "started_ms": MINUTE,
        "started_mono_ns": run.ledger[1]["mono_ns"],
        "outcome": "ok",
        "reply": run.ledger[2]["reply"],
        "reason": "said so",
        "ended_ms": MINUTE + 900,
        "ended_mono_ns": run.ledger[2]["mono_ns"],
        "reply_internal_id": str(sent.internal_id),
    }
    assert made(run).tables["attempts"][0]["ref"] == {"file": "ledger.jsonl", "line": 3}


def test_a_delivery_is_a_recipient_with_its_copies() -> None:
    run = empty()
    sent = run.deliver(MINUTE, [user(1), OUTSIDE], mail="outbound")
    run.show(sent, MINUTE + 9 * SECOND)
    rows = made(run).tables["deliveries"]
    assert [of(row, "recipient", "kind", "promised", "outcome", "copies") for row in rows] == [
        (user(1), "mailbox", True, "delivered", 2),
        (OUTSIDE, "external", True, "delivered", 2),
    ]
    names = ("message_id", "submitted_ms", "acknowledged_ms", "first_ms", "reason")
    assert of(rows[0], *names) == (
        sent.message_id, MINUTE, MINUTE + 900, MINUTE + 2 * SECOND - 50, "",
    )  # fmt: skip
    assert rows[0]["refs"] == [
        {"file": "ledger.jsonl", "line": 3},
        {"file": "mailboxes/DB1.jsonl", "line": 1},
        {"file": "mailboxes/DB1.jsonl", "line": 2},
    ]


def test_a_delivery_that_was_not_made_says_why() -> None:
    run = empty()
    run.accept(MINUTE, [user(1)])
    row = made(run).one("deliveries")
    reason = "acknowledged by par-mbx1, held by lyo-mbx1 and par-mbx1, never visible"
    assert of(row, "outcome", "reason", "copies", "first_ms") == ("lost", reason, 0, None)


def test_a_delay_counts_from_the_submission() -> None:
    run = empty()
    sent = run.deliver(MINUTE, [user(1)])
    run.accept(HOUR, [user(1)])
    assert made(run).one("delays") == {
        "message_id": sent.message_id,
        "recipient": user(1),
        "phase": "before",
        "submitted_ms": MINUTE,
        "acknowledged_ms": MINUTE + 900,
        "delivered_ms": MINUTE + 1950,
        "delay_ms": 1950,
    }


def test_mail_came_before_during_or_after_all_faults() -> None:
    """The first is applied at 10 minutes and 200 ms, the last healed at 40 minutes and 200 ms."""
    run = empty()
    run.cut("lyo-mbx2", "par-mbx2", 10 * MINUTE, 20 * MINUTE)
    run.cut("lyo-mbx2", "par-mbx2", 30 * MINUTE, 40 * MINUTE, fault="f2")
    first_ms, over_ms = 10 * MINUTE + 200, 40 * MINUTE + 200
    for at_ms in (first_ms - 1, first_ms, 25 * MINUTE, over_ms, over_ms + 1):
        run.deliver(at_ms, [user(1)])
    phases = [row["phase"] for row in made(run).tables["delays"]]
    assert phases == ["before", "during", "during", "during", "after"]


def test_without_faults_all_came_before() -> None:
    run = empty()
    run.deliver(HOUR, [user(1)])
    assert made(run).one("delays")["phase"] == "before"
