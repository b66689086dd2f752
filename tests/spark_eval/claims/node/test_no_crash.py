from __future__ import annotations

import pytest

from spark_eval.claims.node.no_crash import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.run_builder import MAILBOX_SERVERS, MINUTE, Run, empty, healthy

TRACE = 'Traceback (most recent call last):\n  File "x.py", line 7\nKeyError: 999\n'


def _ended(event: str, *servers: str, reason: str | None = TRACE) -> Run:
    run = healthy()
    for server in servers:
        run.life(server, "started", 0)
        told = {} if reason is None else {"reason": reason}
        run.life(server, event, 7 * MINUTE, **told)
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": _ended("stopped", "par-mbx1", "lyo-mbx1"),
        "killed": new_database().run,
        "crashed": _ended("crashed", "par-mbx1"),
        "two": _ended("crashed", "par-mbx1", "lyo-mbx1"),
        "session": _ended("session-failed", "par-mbx2"),
        "without-reason": _ended("crashed", "par-mbx1", reason=None),
        "no-lives": _made_by_the_lab(_no_lives()),
        "logs-of-others": _no_lives(),
        "one-is-silent": _silent("lyo-mbx1"),
        "no-mailbox-servers": _without_servers(),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def _no_lives() -> Run:
    run = empty()
    run.lifecycle.clear()
    return run


def _made_by_the_lab(run: Run) -> Run:
    """Its plan says what is to be sent."""
    run.plan["messages"] = [{"message_id": "<m000001.calm.7@outside.example>"}]
    return run


def _silent(server: str) -> Run:
    run = empty()
    del run.lifecycle[server]
    return run


def _without_servers() -> Run:
    run = _no_lives()
    run.plan["topology"]["servers"] = []
    return run


def test_holds_where_servers_stopped(results: Results) -> None:
    told = results["healthy"]
    assert (told.status, told.asked) == ("holds", len(MAILBOX_SERVERS))
    assert results["killed"].violations == 0


def test_is_violated_by_a_crash_and_says_why(results: Results) -> None:
    told = results["crashed"]
    assert (told.status, told.violations) == ("violated", 1)
    assert told.examples[0].detail == "par-mbx1 crashed at 0:07:00.000: KeyError: 999"
    assert told.examples[0].refs[0][0] == "logs/par-mbx1/lifecycle.jsonl"
    assert results["two"].violations == 2


def test_is_violated_by_a_session_that_failed_by_a_mistake(
    results: Results,
) -> None:
    detail = results["session"].examples[0].detail
    assert detail == "a session of par-mbx2 failed at 0:07:00.000: KeyError: 999"


def test_a_crash_may_have_no_reason(results: Results) -> None:
    detail = results["without-reason"].examples[0].detail
    assert detail == "par-mbx1 crashed at 0:07:00.000: no reason given"


def test_is_violated_by_a_server_whose_log_has_no_start(results: Results) -> None:
    told = results["no-lives"]
    assert (told.status, told.violations) == ("violated", len(MAILBOX_SERVERS))
    assert told.examples[0].detail == "the lifecycle log of lyo-mbx1 has no start of it"
    assert told.proofs == {"TL-4": "violated"}
    assert results["one-is-silent"].violations == 1
    assert results["logs-of-others"].asked_nothing


def test_is_unknown_where_nothing_was_asked(results: Results) -> None:
    told = results["no-mailbox-servers"]
    assert (told.status, told.asked, told.reason) == ("unknown", 0, "nothing was asked")
