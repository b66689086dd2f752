from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from spark_eval.claims.mail.dsn_sent import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs import failover_runs
from tests.spark_eval.runs.dsn_runs import IN_THE_WAY, NOT_IN_THE_WAY
from tests.spark_eval.runs.failover_runs import (
    expired_without_a_dsn,
    promoted_shadow_expired,
)
from tests.spark_eval.runs.failover_runs import (
    with_its_first_row_swallowed as swallowed,
)
from tests.spark_eval.runs.run_builder import (
    END,
    HEARTBEAT,
    HOUR,
    MINUTE,
    Message,
    Run,
    empty,
    healthy,
    user,
)

EXPIRED = "550 4.4.7 QUEUE.Expired"
SENDER, INSIDER = user(1), user(1, "db2")
OUTSIDE = "someone@partner.example"
ACKNOWLEDGED = 900  # lab ms from a submission to its 250


def _sent(sender: str = SENDER) -> tuple[Run, Message]:
    run = empty()
    message = run.accept(MINUTE, [OUTSIDE], mail="outbound")
    run.ledger[0]["sender"] = sender
    return run, message


def _give_up(run: Run, message: Message, at_ms: int = HOUR) -> None:
    run.log("par-mbx1", "FAIL", "QUEUE", at_ms, message, recipient_status=EXPIRED)


def _tell(
    run: Run,
    message: Message,
    *,
    seen: bool = True,
    at_ms: int = HOUR,
    who: str = SENDER,
    names: Sequence[str] | None = None,
    action: str = "failed",
) -> None:
    number = run.next_id()
    report = replace(
        message, message_id=f"<dsn.{number}@lab>", recipients=[who], internal_id=number
    )
    run.log("par-mbx1", "DSN", "DSN", at_ms, report, reference=message.message_id)
    if seen:
        run.show(report, at_ms + MINUTE)
    if names is not None:
        said = [{"recipient": each, "action": action} for each in names]
        run.mailboxes["DB1"][-1]["reports"] = said


def _given_up(*, told: int, seen: bool = True, at_ms: int = HOUR, sender: str = SENDER) -> Run:
    run, message = _sent(sender)
    _give_up(run, message, at_ms)
    for _ in range(told):
        _tell(run, message, seen=seen, at_ms=at_ms)
    return run


def _given_up_twice() -> Run:
    """By a server that crashed between the two."""
    run, message = _sent()
    _give_up(run, message)
    _give_up(run, message, HOUR + 5 * MINUTE)
    _tell(run, message, at_ms=HOUR + 5 * MINUTE)
    return run


def _told_another() -> Run:
    run, message = _sent()
    _give_up(run, message)
    _tell(run, message, who=user(2))
    return run


def _told_for_nothing() -> Run:
    run, message = _sent()
    _tell(run, message)
    return run


def _fails_for_two(*, again: bool = False) -> tuple[Run, Message]:
    """For a colleague, then for somebody outside; `again`: by a server that crashed between."""
    run = empty()
    message = run.accept(MINUTE, [user(2), OUTSIDE], mail="outbound")
    run.ledger[0]["sender"] = SENDER
    for number, recipient in enumerate(message.recipients):
        for at_ms in [HOUR + number, *([HOUR + 5 * MINUTE + number] if again else [])]:
            run.log("par-mbx1", "FAIL", "QUEUE", at_ms, message, recipients=[recipient],
                    recipient_status=EXPIRED)  # fmt: skip
    return run, message


def _fails_twice(*, told: int, again: bool = False) -> Run:
    run, message = _fails_for_two(again=again)
    for _ in range(told):
        _tell(run, message, at_ms=HOUR + 6 * MINUTE)
    return run


def _late(by_ms: int, *, told: bool = False, sender: str = SENDER) -> Run:
    """It reached a colleague so long after it was acknowledged."""
    run, colleague = empty(), user(2)
    message = run.accept(MINUTE, [colleague], mail="outbound")
    run.ledger[0]["sender"] = sender
    run.show(message, MINUTE + ACKNOWLEDGED + by_ms)
    if told:
        _tell(run, message)
    return run


def _says(*reports: Sequence[str], action: str = "failed") -> Run:
    """A DSN that names these, for each of `reports`."""
    run, message = _fails_for_two()
    for each in reports:
        _tell(run, message, at_ms=HOUR + 6 * MINUTE, names=each, action=action)
    return run


def _lost_with_a_copy(run: Run) -> Run:
    """Its DSN was in a copy of the sender's database that is lost."""
    message = failover_runs.send_delayed(run, 2 * MINUTE)
    _give_up(run, message, 18 * MINUTE)
    failover_runs.notify(run, message, 18 * MINUTE)
    return run


def _not_collected() -> Run:
    run = _given_up(told=0)
    run.drop.add("mailboxes/DB1.jsonl")
    return run


def runs() -> dict[str, Run]:
    return {
        **IN_THE_WAY,
        **NOT_IN_THE_WAY,
        "lost-with-a-copy": _lost_with_a_copy(failover_runs.asked_too_late()),
        "lost-and-could-have-come-back": _lost_with_a_copy(failover_runs.lossy().run),
        "healthy": healthy(),
        "told": _given_up(told=1),
        "again": _given_up_twice(),
        "silent": _given_up(told=0),
        "unseen": _given_up(told=1, seen=False),
        "twice": _given_up(told=2),
        "another": _told_another(),
        "for-nothing": _told_for_nothing(),
        "at-the-end": _given_up(told=0, at_ms=END - HEARTBEAT // 2),
        "null-sender": _given_up(told=0, sender="<>"),
        "null-sender-told": _given_up(told=1, sender="<>"),
        "resubmitted": expired_without_a_dsn(),
        "its-shadow": promoted_shadow_expired(),
        "its-shadow-unsaid": promoted_shadow_expired(None),
        "its-shadow-of-another-request": promoted_shadow_expired("DB1:9"),
        "no-shadow-of-it": promoted_shadow_expired(promoted=False),
        "may-be-its-shadow": swallowed(promoted_shadow_expired()),
        "may-be-its-shadow-unsaid": swallowed(promoted_shadow_expired(None)),
        "none-was-asked": swallowed(promoted_shadow_expired(), asked=False),
        "not-collected": _not_collected(),
        "both-told": _fails_twice(told=2),
        "both-told-after-a-crash": _fails_twice(told=2, again=True),
        "one-told": _fails_twice(told=1),
        "one-told-after-a-crash": _fails_twice(told=1, again=True),
        "late": _late(2 * HEARTBEAT),
        "late-and-told": _late(2 * HEARTBEAT, told=True),
        "late-from-outside": _late(2 * HEARTBEAT, sender="sender@elsewhere.example"),
        "in-time": _late(HEARTBEAT // 2),
        "names-each": _says([user(2)], [OUTSIDE.upper()]),
        "names-one-twice": _says([user(2)], [user(2)]),
        "names-somebody-else": _says([user(2), OUTSIDE], [user(3)]),
        "names-nobody": _says([], []),
        "says-late": _says([user(2)], [OUTSIDE], action="delayed"),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_the_sender_sees_a_dsn(results: Results) -> None:
    for name in ("told", "again", "both-told", "both-told-after-a-crash", "names-each"):
        assert (results[name].status, results[name].asked) == ("holds", 1), name
        assert results[name].proofs == {"SM-12": "holds"}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("silent", f"given up, and no DSN is made for {SENDER}"),
        ("unseen", f"given up, and {SENDER} never saw the DSN"),
        ("one-told", f"given up for several recipients, 2 times; {SENDER} is told of 1"),
        (
            "one-told-after-a-crash",
            f"given up for several recipients, 2 times; {SENDER} is told of 1",
        ),
        ("another", f"given up, and {SENDER} never saw the DSN"),
        ("twice", f"{SENDER} is told of 2 failures, and 1 are logged"),
        ("for-nothing", f"{SENDER} is told of 1 failures, and 0 are logged"),
        ("names-one-twice", f"given up for {OUTSIDE}, and no DSN to {SENDER} says so"),
        (
            "names-somebody-else",
            f"{SENDER} is notified that it failed for {user(3)}, and no such failure is logged",
        ),
        (
            "names-nobody",
            f"given up for {user(2)} and {OUTSIDE}, and no DSN to {SENDER} says so",
        ),
        ("says-late", f"given up for {user(2)} and {OUTSIDE}, and no DSN to {SENDER} says so"),
        ("null-sender-told", "<> cannot be told, and 1 DSNs are made"),
        ("may-be-its-shadow-unsaid", f"given up, and no DSN is made for {INSIDER}"),
        ("none-was-asked", f"given up, and no DSN is made for {INSIDER}"),
        ("no-shadow-of-it", f"given up, and no DSN is made for {INSIDER}"),
        ("late-and-told", f"{SENDER} is told of 1 failures, and 0 are logged"),
    ],
)
def test_is_violated(results: Results, name: str, says: str) -> None:
    assert results[name].violations == 1
    assert results[name].examples[0].detail == says


def test_a_sender_whose_mail_was_late_hears_of_no_failure_and_that_proves_no_requirement(
    results: Results,
) -> None:
    late = results["late"]
    assert (late.status, late.asked, late.proofs) == ("holds", 1, {})
    assert results["late-and-told"].proofs == {"SM-12": "violated"}


@pytest.mark.parametrize(
    "name",
    [
        "healthy",
        "at-the-end",
        "null-sender",
        "resubmitted",
        "its-shadow",
        "its-shadow-unsaid",
        "its-shadow-of-another-request",
        "may-be-its-shadow",
        "late-from-outside",
        "in-time",
    ],
)
def test_is_unknown_where_nothing_was_asked(results: Results, name: str) -> None:
    result = results[name]
    assert (result.status, result.asked, result.reason) == ("unknown", 0, "nothing was asked")


def test_is_unknown_where_what_the_sender_sees_was_not_collected(
    results: Results,
) -> None:
    told = results["not-collected"]
    assert (told.status, told.violations, told.unknown) == ("unknown", 0, 1)


@pytest.mark.parametrize("name", [*IN_THE_WAY, "lost-with-a-copy"])
def test_does_not_ask_for_a_dsn_that_a_fault_kept_from_its_reader(
    name: str, results: Results
) -> None:
    assert results[name].asked_nothing


@pytest.mark.parametrize("name", [*NOT_IN_THE_WAY, "lost-and-could-have-come-back"])
def test_is_violated_by_a_dsn_that_is_given_up_with_no_fault_in_its_way(
    name: str, results: Results
) -> None:
    (example,) = results[name].examples
    assert example.detail == f"given up, and {SENDER} never saw the DSN"
