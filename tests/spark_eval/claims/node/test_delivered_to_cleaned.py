from __future__ import annotations

import pytest

from spark_eval.claims.node.delivered_to_cleaned import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import END, HOUR, MINUTE, Run, empty, healthy, made, user

SERVER, WINDOW, INTERVAL = "par-mbx2", 30 * MINUTE, HOUR


def _cleaned(
    *left: int | None,
    run: Run | None = None,
    late_ms: int = 0,
    server: str = SERVER,
    interval_ms: int | None = INTERVAL,
) -> Run:
    """DB1 alone is cleaned up each hour; so many entries are left, None: it says nothing."""
    run = run or empty()
    first, other = run.plan["topology"]["databases"]
    first |= {"duplicate_detection_window_ms": WINDOW, "background_cleanup_ms": interval_ms}
    other["background_cleanup_ms"] = None
    for number, count in enumerate(left, start=1):
        at_ms = number * INTERVAL + late_ms
        if count is not None:
            run.life(
                server, "delivered-to-cleaned-up", at_ms, database="DB1", removed=0, left=count
            )
    return run


def _delivered(minutes: int) -> Run:
    """One message for two mailboxes, so long before the first clean-up."""
    run = empty()
    run.deliver(HOUR - minutes * MINUTE, [user(1), user(2)])
    return run


HOURS = END // HOUR
QUIET = (0,) * (HOURS - 1)
"""The last ones are too near the end, whatever they are."""


def _away() -> Run:
    run = empty()
    run.kill(SERVER, 30 * MINUTE, 40 * MINUTE)
    return _cleaned(*QUIET, run=run, late_ms=40 * MINUTE)


def _failed() -> Run:
    run = _cleaned(0, None, *QUIET[2:])
    run.life(SERVER, "cleanup-failed", 2 * HOUR, database="DB1", reason="disk full")
    return run


HOLDS = {
    "nothing-to-remove": _cleaned(*QUIET),
    "entries-within-the-window-are-left": _cleaned(2, *QUIET[1:], run=_delivered(10)),
    "others-are-gone": _cleaned(0, *QUIET[1:], run=_delivered(50)),
    "a-failed-one-is-no-fault": _failed(),
}
VIOLATED = {
    "never": _cleaned(None),
    "one-left-out": _cleaned(0, None, *QUIET[2:]),
    "late": _cleaned(*QUIET, late_ms=20 * MINUTE),
    "too-early": _cleaned(*QUIET, late_ms=-20 * MINUTE),
    "an-entry-too-many": _cleaned(2, *QUIET[1:], run=_delivered(50)),
    "an-entry-too-few": _cleaned(1, *QUIET[1:], run=_delivered(10)),
}
NOT_ASKED = {
    "no-interval-in-the-plan": _cleaned(None, interval_ms=None),
    "by-another-name": healthy(),
}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **VIOLATED, **NOT_ASKED, "away": _away()})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs == {"DD-5": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated", results[name].examples


def test_counts_from_the_start_of_each_life(results: Results) -> None:
    assert results["away"].status == "holds", results["away"].examples


def test_says_what_should_be_left(results: Results) -> None:
    (example, *_) = results["an-entry-too-many"].examples
    assert "says 2 entries are left in DeliveredTo of DB1" in example.detail


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_the_plan_says_no_interval(name: str, results: Results) -> None:
    assert results[name].asked_nothing
