"""Of whom delay_dsn_sent asks that a DSN of delay says so: those who wait, and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.mail.delay_dsn_sent import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.mail.test_delay_dsn_sent import (
    DELAY,
    DUE,
    OUTSIDE,
    SENDER,
    SERVER,
    SLACK,
)
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, Message, Run, empty, user

INSIDE = user(2)


def _named(
    *names: str, served_ms: int = 2 * MINUTE, event: str = "SEND", loaded: bool = False
) -> Run:
    """A message for somebody outside, who waits, and somebody inside, who does not from
    `served_ms` on; and whom the DSN names.
    """
    run = empty()
    service = {"DelayNotificationTimeout": DELAY}
    run.plan["settings"]["servers"] = {SERVER: {"TransportService": service}}
    message = run.accept(MINUTE, [OUTSIDE, INSIDE], mail="outbound")
    run.ledger[0]["sender"] = SENDER
    run.log(SERVER, event, "SMTP", served_ms, message, recipients=[INSIDE])
    run.log(SERVER, "SEND", "SMTP", 2 * HOUR, message, recipients=[OUTSIDE])
    if loaded:
        run.log(SERVER, "LOAD", "BOOTLOADER", 3 * MINUTE, message, source_context="delivery")
    _tell(run, message, names)
    return run


def _tell(run: Run, message: Message, names: tuple[str, ...]) -> None:
    number = run.next_id()
    report = replace(message, message_id="<dsn@lab>", recipients=[SENDER], internal_id=number)
    run.log(SERVER, "DSN", "DSN", DUE, report, reference=message.message_id,
            source_context="delayed")  # fmt: skip
    run.show(report, DUE + MINUTE)
    said = [{"recipient": each, "action": "delayed"} for each in names]
    run.mailboxes["DB1"][-1]["reports"] = said


def _away(kind: str) -> Run:
    run = _named(OUTSIDE, INSIDE)
    run.away(kind, SERVER, DUE - MINUTE, DUE)
    return run


HOLDS = {
    "who-waits": _named(OUTSIDE),
    "both-wait": _named(OUTSIDE, INSIDE, served_ms=HOUR),
    "served-just-then": _named(OUTSIDE, INSIDE, served_ms=DUE - SECOND),
    "served-just-then-and-not-named": _named(OUTSIDE, served_ms=DUE - SECOND),
    "loaded-between": _named(OUTSIDE, INSIDE, loaded=True),
    "paused": _away("pause"),
    "disk-full": _away("fill_disk"),
}
VIOLATED = {
    "served-long-before": _named(OUTSIDE, INSIDE),
    "served-before": _named(OUTSIDE, INSIDE, served_ms=DUE - SLACK - 1),
    "the-other-alone": _named(INSIDE),
    "one-of-two": _named(OUTSIDE, served_ms=HOUR),
    "one-of-two-served-just-after": _named(OUTSIDE, served_ms=DUE + 1),
}


def runs() -> dict[str, Run]:
    return {**HOLDS, **VIOLATED}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated", results[name]


def test_says_for_whom_it_waits(results: Results) -> None:
    assert results["one-of-two"].examples[0].detail == (
        f"it waits for {INSIDE} as well, and the DSN to {SENDER} does not say so"
    )
    assert results["served-before"].examples[0].detail == (
        f"{SENDER} is notified of a delay for {INSIDE}, for whom it does not wait"
    )
