from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.node.intake_for_cause import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import DOMAIN, MINUTE, Message, Run, apart, empty, made, user

SERVER, NEXT = "par-mbx1", "lyo-mbx2"


def _accepted() -> tuple[Run, Message]:
    run = empty()
    return run, run.accept(MINUTE, [user(1)])


def _taken(server: str = SERVER, *, internal_id: int = 900, event: str = "RECEIVE") -> Run:
    """A message that was accepted is taken in once more."""
    run, message = _accepted()
    run.log(server, event, "SMTP", 3 * MINUTE, message, internal_id=internal_id)
    return run


def _tried(outcome: str, reply: str | None, at_ms: int = 2 * MINUTE) -> Run:
    """Before the attempt that had its 250."""
    run = _taken()
    message, *answered = run.ledger
    run.ledger = [message]
    run.attempt(message["message_id"], SERVER, at_ms, outcome, reply, at_ms + 900)
    run.ledger += [{**row, "attempt": 2} for row in answered]
    return run


def _crossed(*, answered: bool = True, put_off: bool = False, loaded: bool = False) -> Run:
    run, message = _accepted()
    apart(run)
    run.cross(message, 3 * MINUTE)
    if not answered:
        run.remove(SERVER, "SEND")
    if put_off:
        run.log(SERVER, "DEFER", "QUEUE", 5 * MINUTE, message, custom={"Fork": "site:lyon"})
    if loaded:
        run.log(SERVER, "LOAD", "BOOTLOADER", 6 * MINUTE, message, source_context="delivery")
    return run


def _within_the_boundary() -> Run:
    run, message = _accepted()
    again = replace(message, internal_id=900)
    run.log("par-mbx2", "RECEIVE", "SMTP", 3 * MINUTE, again)
    reply = f"250 2.6.0 {message.message_id} [InternalId=900, Hostname=x] ok"
    run.log(SERVER, "SEND", "SMTP", 3 * MINUTE, message, source_context=reply,
            server_hostname=f"par-mbx2.{DOMAIN}", custom={"Fork": "database:DB1"})  # fmt: skip
    return run


HOLDS = {
    "named-by-its-250": _accepted()[0],
    "lost-before-the-answer": _tried("unknown", None),
    "hung-up": _tried("failed", "421 4.4.2 time-out"),
    "crossed": _crossed(),
    "crossed-and-put-off": _crossed(answered=False, put_off=True),
    "crossed-and-loaded-again": _crossed(answered=False, loaded=True),
}
VIOLATED = {
    "nobody-sent-it": _taken(),
    "at-another-server": _taken("lyo-mbx1"),
    "refused": _tried("failed", "451 4.4.0 Message failed to be made redundant"),
    "lost-later": _tried("unknown", None, 5 * MINUTE),
    "crossed-and-nobody-says-so": _crossed(answered=False),
    "within-the-boundary": _within_the_boundary(),
}
NOT_ASKED = {"nothing": empty(), "torn-ledger": _taken()}
NOT_ASKED["torn-ledger"].tail["ledger.jsonl"] = '{"type": "mess'


def runs() -> dict[str, Run]:
    return made({**HOLDS, **VIOLATED, **NOT_ASKED})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs == {"TL-2": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result.examples


def test_says_what_nobody_handed_over(results: Results) -> None:
    (example,) = results["nobody-sent-it"].examples
    assert example.detail == (
        "par-mbx1 logged RECEIVE of 900; no 250 names it, and of hand-overs to it 0 had no answer"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_of_no_mail_or_of_a_torn_ledger(name: str, results: Results) -> None:
    assert results[name].asked_nothing
