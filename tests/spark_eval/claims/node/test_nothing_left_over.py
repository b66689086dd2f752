from __future__ import annotations

from typing import Any

import pytest

from spark_eval.claims.node.nothing_left_over import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.front_end_runs import FRONT_END, before_paris
from tests.spark_eval.runs.run_builder import (
    HEARTBEAT,
    MAILBOX_SERVERS,
    MINUTE,
    SECOND,
    Row,
    Run,
    empty,
    healthy,
)

DELIVERED = 20 * MINUTE


def _left(queue: str, state: str, **more: Any) -> Run:
    run = healthy()
    entry: Row = {
        "queue": queue, "message_id": None, "network_message_id": None, "internal_id": None,
        "recipients": [], "primary": None, "primary_database_id": None, "shadow_server": None,
        "entered_ms": None, "delivered_ms": None, "expires_ms": None, "state": state,
    }  # fmt: skip
    run.queues.setdefault("par-mbx1", []).append({**entry, **more})
    return run


def _running(*, healed: bool = True) -> Run:
    run = _left("running-request", "am:1 is running")
    run.cut("par-mbx1", "par-mbx2", MINUTE, 2 * MINUTE)
    if not healed:
        run.faults = [row for row in run.faults if not row["phase"].startswith("heal")]
    return run


def _notified(contacts: int, *, at_once: int = 0, restarted: str = "", page: int = 200) -> Run:
    """lyo-mbx1 asks par-mbx1 so often after a delivery that it is to be notified of, and over
    other sessions `at_once` with the first time. Each answer names one message.
    """
    run = _left("discard", "waiting", message_id="<m1@x>", internal_id=7,
                shadow_server="lyo-mbx1", delivered_ms=DELIVERED)  # fmt: skip
    run.plan["settings"]["servers"]["par-mbx1"]["TransportService"] |= {
        "DiscardNotificationsPerAnswer": page
    }
    run.contacts.clear()
    run.heartbeats("lyo-mbx1", "par-mbx1", DELIVERED - 2 * HEARTBEAT, DELIVERED - 1)
    for number in range(contacts):
        at_ms = DELIVERED + (number + 1) * HEARTBEAT
        run.contact("lyo-mbx1", "par-mbx1", at_ms, notifications=1)
    for _ in range(at_once):
        run.contact("lyo-mbx1", "par-mbx1", DELIVERED + HEARTBEAT + SECOND)
    if restarted:
        run.life(restarted, "started", DELIVERED + 2 * HEARTBEAT + MINUTE)
    return run


def _answered_late(rounds: int) -> Run:
    """An answer of before the delivery comes after it, and brings nothing. After that lyo-mbx1 asks
    over two new sessions at once, `rounds` times.
    """
    run = _notified(0)
    before_ms, after_ms = DELIVERED - SECOND, DELIVERED + SECOND
    run.contact("lyo-mbx1", "par-mbx1", after_ms, notifications=0, asked_ms=before_ms)
    for number in range(rounds):
        asked_ms = DELIVERED + (number + 1) * HEARTBEAT
        for name in ("out-1", "out-2"):
            _ask(run, f"{name}{number}", asked_ms, asked_ms + SECOND)
    return run


def _ask(run: Run, session: str, asked_ms: int, answered_ms: int) -> None:
    run.begin("lyo-mbx1", "par-mbx1", asked_ms, session)
    run.contact(
        "lyo-mbx1", "par-mbx1", answered_ms, notifications=1, session=session, asked_ms=asked_ms
    )


def _asked_before_it_heard(rounds: int) -> Run:
    """Answers are late. lyo-mbx1 asked over three sessions before an answer named the message to
    it, and then `rounds` times over new ones.
    """
    run = _notified(0)
    for number in range(3):
        later_ms = number * HEARTBEAT
        _ask(run, f"out-{number}", DELIVERED + SECOND, DELIVERED + HEARTBEAT + later_ms)
    for number in range(3, rounds + 3):
        later_ms = number * HEARTBEAT
        _ask(run, f"out-{number}", DELIVERED + later_ms, DELIVERED + HEARTBEAT + later_ms)
    return run


def _full(server: str) -> Run:
    """Its disk is full until after the second question."""
    run = _notified(4)
    start, end = DELIVERED - MINUTE, DELIVERED + 2 * HEARTBEAT + MINUTE
    run.plan["faults"].append(
        {"id": "f1", "kind": "fill_disk", "start_ms": start, "end_ms": end, "server": server}
    )
    for phase, at_ms in (("intended", start), ("applied", start), ("heal-intended", end)):
        run.record("f1", phase, at_ms)
    run.record("f1", "evidence", start, took_effect=True, observations=[])
    run.record("f1", "healed", end)
    return run


def _in_hand() -> Run:
    run = before_paris()
    run.lifecycle[FRONT_END][-1]["count"] = 3
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": healthy(),
        "body": _left("left-body", "kept for 1 messages, used by 0", internal_id=9),
        "fork": _left("left-fork", "queued, of a message that is gone", internal_id=9),
        "head": _left("left-head", "asked for by am:1, which is over", shadow_server="lyo-mbx2"),
        "running": _running(),
        "running-unhealed": _running(healed=False),
        "notified": _notified(2),
        "over-many-sessions": _notified(2, at_once=5),
        "confirmed": _notified(3),
        "answered-late": _answered_late(2),
        "answered-late-and-confirmed": _answered_late(3),
        "asked-before-it-heard": _asked_before_it_heard(1),
        "asked-before-it-heard-and-confirmed": _asked_before_it_heard(2),
        "a-page-each": _notified(4, page=1),
        "restarted": _notified(4, restarted="par-mbx1"),
        "asking-one-restarted": _notified(4, restarted="lyo-mbx1"),
        "disk-was-full": _full("par-mbx1"),
        "disk-of-asking-one-was-full": _full("lyo-mbx1"),
        "unlisted": _unlisted(),
        "front-end": before_paris(),
        "front-end-with-mail": _in_hand(),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def _unlisted() -> Run:
    run = empty()
    run.drop |= {f"logs/{server}/queues.jsonl" for server in MAILBOX_SERVERS}
    return run


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("healthy", 4),
        ("notified", 5),
        ("restarted", 5),
        ("asking-one-restarted", 5),
        ("disk-was-full", 5),
        ("disk-of-asking-one-was-full", 5),
        ("over-many-sessions", 5),
        ("a-page-each", 5),
        ("answered-late", 5),
        ("asked-before-it-heard", 5),
    ],
)
def test_holds(results: Results, name: str, asked: int) -> None:
    assert (results[name].status, results[name].asked) == ("holds", asked), results[name]


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("body", "left-body 9: kept for 1 messages, used by 0"),
        ("fork", "left-fork 9: queued, of a message that is gone"),
        ("head", "left-head lyo-mbx2: asked for by am:1, which is over"),
        ("running", "running-request: am:1 is running"),
    ],
)
def test_is_violated_by_what_a_store_still_has(results: Results, name: str, detail: str) -> None:
    told = results[name]
    assert told.violations == 1
    assert told.examples[0].detail == (
        f"par-mbx1 keeps 1 of what no promise keeps, first a {detail}"
    )


def test_is_violated_by_a_notification_that_was_confirmed(
    results: Results,
) -> None:
    told = results["confirmed"]
    assert (told.violations, told.proofs) == (1, {"SM-16": "violated"})
    assert told.examples[0].detail == (
        "par-mbx1 keeps 1 discard notifications for lyo-mbx1, which heard of the first at "
        "0:22:00.000 and asked in 2 rounds since"
    )


def test_questions_at_once_are_one_round(results: Results) -> None:
    told = results["answered-late-and-confirmed"]
    assert told.examples[0].detail.endswith("0:22:01.000 and asked in 2 rounds since")


def test_a_question_of_before_an_answer_is_of_its_round(results: Results) -> None:
    told = results["asked-before-it-heard-and-confirmed"]
    assert told.examples[0].detail.endswith("0:22:00.000 and asked in 2 rounds since")


def test_is_unknown_where_a_fault_never_healed(results: Results) -> None:
    told = results["running-unhealed"]
    assert (told.violations, told.unknown) == (0, 1)


def test_is_unknown_where_nothing_was_listed(results: Results) -> None:
    told = results["unlisted"]
    assert (told.status, told.asked, told.reason) == ("unknown", 0, "nothing was asked")


def test_a_front_end_has_nothing_in_its_hands_in_the_end(results: Results) -> None:
    assert results["front-end"].status == "holds"
    found = results["front-end-with-mail"]
    assert (found.status, found.violations) == ("violated", 1)
    assert "par-fe1 had 3 messages when it was stopped" in found.examples[0].detail
