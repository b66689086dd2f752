from __future__ import annotations

from typing import Any

import pytest

from spark_eval.claims.mail.statuses_fit import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, Run, empty, healthy, user

SERVER = "par-mbx1"
BEGAN = 20 * MINUTE
EXPIRED = "550 4.4.7 QUEUE.Expired"
UNKNOWN_USER = "550 5.1.1 User unknown"
BRACES = "[{{LED={}}};{{MSG=}};{{FQDN=}};{{IP=}};{{LRT=}}]"
FULL = "451 4.3.0 Message could not be stored"
SUBJECT = "<m000001.calm.7@outside.example> at par-mbx1"
# the header has five lines, and HAREDIRECT and RECEIVE come before
REF = (f"logs/{SERVER}/MSGTRK2026010508-1.LOG", 8)


def _logged(event: str, recipients: int = 1, **fields: Any) -> Run:
    run = empty()
    message = run.accept(BEGAN, [user(number) for number in range(1, 1 + recipients)])
    run.log(SERVER, event, "QUEUE", BEGAN + MINUTE, message, **fields)
    return run


def _given_up(*statuses: str, recipients: int = 1) -> Run:
    return _logged("FAIL", recipients, recipient_status=";".join(statuses))


def _put_off(context: str, *statuses: str, recipients: int = 1) -> Run:
    status = ";".join(statuses)
    return _logged("DEFER", recipients, source_context=context, recipient_status=status)


def _given_up_after_all() -> Run:
    run = _put_off(FULL)
    (row,) = run.rows(SERVER, "DEFER")
    again = {"at_ms": BEGAN + 2 * MINUTE, "event-id": "FAIL", "recipient-status": EXPIRED}
    run.tracking[SERVER].append(row | again)
    return run


HOLDS = {
    "expired": (_given_up(EXPIRED), 1),
    "refused": (_given_up(UNKNOWN_USER), 1),
    "refused-without-a-text": (_given_up("550"), 1),
    "refused-for-each": (_given_up(UNKNOWN_USER, "554-5.7.1 No", recipients=2), 1),
    "given-up-with-semicolons": (_given_up("550 5.1.1 No; 250 others are here"), 1),
    "given-up-in-braces": (_given_up(BRACES.format(UNKNOWN_USER)), 1),
    "put-off-in-braces": (_put_off("AmbiguousRecipient", BRACES.format(FULL)), 1),
    "put-off-by-a-reply": (_put_off(FULL), 1),
    "put-off-by-several": (_put_off(f"{FULL}; 452 4.5.3 Too many", recipients=3), 1),
    "put-off-with-a-status": (_put_off("retry", FULL, "421 4.3.2 Not now", recipients=2), 1),
    "put-off-with-semicolons": (_put_off("451 4.3.0 Not now; 250 of them wait"), 1),
    "put-off-then-given-up": (_given_up_after_all(), 2),
}
GAVE_UP = "par-mbx1 gave it up, and the reply that it logs is not permanent: "
PUT_OFF = "par-mbx1 put it off, and the reply that it logs is not transient: "
VIOLATED = {
    "expired-for-now": (_given_up("450 4.4.7 QUEUE.Expired"), f"{GAVE_UP}450 4.4.7 QUEUE.Expired"),
    "expired-for-now-in-braces": (
        _given_up(BRACES.format("450 4.4.7 QUEUE.Expired")),
        f"{GAVE_UP}[{{LED=450 4.4.7 QUEUE.Expired}}",
    ),
    "accepted-and-given-up": (_given_up("250 2.0.0 Ok"), f"{GAVE_UP}250 2.0.0 Ok"),
    "second-for-now": (_given_up(EXPIRED, FULL, recipients=2), f"{GAVE_UP}{FULL}"),
    "put-off-for-good": (_put_off(UNKNOWN_USER), f"{PUT_OFF}{UNKNOWN_USER}"),
    "accepted-and-put-off": (_put_off("250 2.0.0 Ok"), f"{PUT_OFF}250 2.0.0 Ok"),
    "put-off-with-a-permanent-status": (_put_off("refused", EXPIRED), f"{PUT_OFF}{EXPIRED}"),
    "second-put-off-for-good": (
        _put_off(FULL, FULL, UNKNOWN_USER, recipients=2),
        f"{PUT_OFF}{UNKNOWN_USER}",
    ),
    "given-up-without-a-status": (_given_up(), "its FAIL row has no recipient-status"),
    "given-up-with-a-reply-elsewhere": (
        _logged("FAIL", source_context=UNKNOWN_USER),
        "its FAIL row has no recipient-status",
    ),
    "given-up-with-a-status-for-one": (
        _given_up(EXPIRED, recipients=2),
        "its FAIL row at par-mbx1 has 2 recipients, and a recipient-status for 1",
    ),
    "put-off-with-a-status-for-one": (
        _put_off("retry", FULL, recipients=2),
        "its DEFER row at par-mbx1 has 2 recipients, and a recipient-status for 1",
    ),
}
UNKNOWN = {
    "given-up-without-a-reply": (_given_up("QUEUE.Expired"), "par-mbx1 logs no reply: QUEUE"),
    "given-up-with-half-a-reply": (_given_up("354 Go on"), "par-mbx1 logs no reply: 354 Go on"),
    "given-up-by-a-number": (_given_up("5501 hops"), "par-mbx1 logs no reply: 5501 hops"),
}
NOT_ASKED = {
    "delivered": healthy(),
    "nothing-sent": empty(),
    "not-reached": _put_off("connection refused"),
    "put-off-without-a-word": _put_off(""),
    "put-off-by-half-a-reply": _put_off("354 Go on"),
    "a-report-of-what-was-given-up": _logged("SUPPRESSED", recipient_status=FULL),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    asked |= {f"unknown-{name}": run for name, (run, _) in UNKNOWN.items()}
    return asked | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", HOLDS[name][1]), result.reason
    assert result.proofs == {"TL-1": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1)
    (example, *_) = result.examples
    assert example.subject == SUBJECT
    assert VIOLATED[name][1] in example.detail
    assert example.refs == (REF,)


@pytest.mark.parametrize("name", UNKNOWN)
def test_is_unknown_where_a_row_says_no_reply(name: str, results: Results) -> None:
    result = results[f"unknown-{name}"]
    assert (result.status, result.unknown) == ("unknown", 1)
    assert UNKNOWN[name][1] in result.reason


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_no_reply_is_logged(name: str, results: Results) -> None:
    assert results[name].asked_nothing
