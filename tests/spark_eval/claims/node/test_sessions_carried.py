"""That sessions carried no more than sessions_ended can account for."""

from __future__ import annotations

import pytest

from spark_eval.claims.node.sessions_ended import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.node.test_sessions_ended import SERVER, _brought
from tests.spark_eval.runs.run_builder import MINUTE, Message, Run, user

ONE_MORE = (MINUTE, MINUTE, MINUTE)


def _with(event: str, source: str, context: str = "", **more: object) -> Run:
    """Two messages are logged, three were carried; and a row of what was said in vain."""
    run = _brought(*ONE_MORE)
    message = Message("<other@x>", "n", [user(1)], MINUTE, SERVER, "", 77, "")
    status = {"recipient_status": context} if event == "FAIL" else {"source_context": context}
    run.log(SERVER, event, source, 3 * MINUTE, message, **status, **more)
    return run


def _tried_twice() -> Run:
    run = _brought(*ONE_MORE)
    run.rows(SERVER, "HAREDIRECT")[0]["custom"]["Attempts"] = 2
    return run


HOLDS = {
    "as-many": _brought(MINUTE, MINUTE),
    "put-off": _with("DEFER", "QUEUE", "451 4.3.2 Not now"),
    "refused": _with("FAIL", "QUEUE", "550 5.1.1 no such user"),
    "not-made-redundant": _with("HAREDIRECTFAIL", "SMTP", custom={"Attempts": 1}),
    "made-redundant-at-the-second-attempt": _tried_twice(),
    "probe": _with("SEND", "SMTP", message_id="<probe.1@lab>"),
}
VIOLATED = {
    "one-more": _brought(*ONE_MORE),
    "expired": _with("FAIL", "QUEUE", "550 4.4.7 QUEUE.Expired"),
    "not-even-tried": _with("HAREDIRECTFAIL", "SMTP", custom={"Attempts": 0}),
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
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result


def test_says_how_many_there_can_be(results: Results) -> None:
    (example,) = results["one-more"].examples
    assert example.detail == (
        "par-mbx1 logged 2 messages as sent on or made redundant, and with attempts in vain 2 at "
        "most; by the ends of its sessions they carried 3"
    )
