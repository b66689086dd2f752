"""What retries_paced asks of a retry that comes late."""

from __future__ import annotations

import pytest

from spark_eval.next.claims.mail.retries_paced import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.mail.test_retries_paced import (
    BEGAN,
    LADDER,
    SERVER,
    VAGUE,
    _accepted,
    _delivered,
    _fails,
    _retried,
)
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Message, Run, empty, user

# a second, two of the wall at 60 times its speed, and the clock's resolution
LATE = VAGUE + SECOND + 120 * SECOND + 900


def _beside(minute: int, *, passes: bool = False) -> Run:
    """The only retry is late, and another message of the queue is tried at that minute."""
    run = _retried(0, 10 * MINUTE)
    other = run.accept(BEGAN - SECOND, [user(2)])
    at_ms = BEGAN + minute * MINUTE
    if passes:
        run.finish(other, at_ms)
    else:
        _fails(run, other, at_ms, at_ms + 100)
    return run


def _to_another_boundary() -> Run:
    run = _retried(0, 10 * MINUTE)
    for row in run.rows(SERVER, "DEFER"):
        row["custom"]["Fork"] = "site:lyon"
    return run


def _away(kind: str) -> Run:
    run = _retried(0, 10 * MINUTE)
    run.away(kind, SERVER, BEGAN + 2 * MINUTE, BEGAN + 3 * MINUTE)
    return run


def _cut(end_ms: int) -> Run:
    """It is delivered late; until when the link was cut."""
    run = _delivered(10 * MINUTE)
    run.cut(SERVER, "par-mbx2", BEGAN - MINUTE, end_ms)
    return run


def _together() -> Run:
    """Two messages that fail at once are one failure of their queue."""
    run = empty()
    messages: list[Message] = [_accepted(run) for _ in range(3)]
    for minute in (0, 1, 2, 7):
        for message in messages:
            _fails(run, message, BEGAN + minute * MINUTE, BEGAN + minute * MINUTE + 100)
    return run


HOLDS = {
    "by-the-ladder": _retried(*LADDER),
    "as-late-as-may-be": _retried(0, MINUTE + LATE),
    "another-was-tried": _beside(1),
    "another-went-through": _beside(1, passes=True),
    "to-another-boundary": _to_another_boundary(),
    "paused": _away("pause"),
    "disk-full": _away("fill_disk"),
    "in-time": _delivered(MINUTE),
    "held-up-by-a-cut": _cut(BEGAN + 9 * MINUTE),
    "at-the-next-rung": _retried(0, *[MINUTE] * 4, 5 * MINUTE + LATE),
}
VIOLATED = {
    "a-little-late": _retried(0, MINUTE + LATE + 1),
    "late-at-the-next-rung": _retried(0, *[MINUTE] * 4, 5 * MINUTE + LATE + 1),
    "late-at-the-end": _retried(*LADDER, 10 * MINUTE + LATE + 1),
    "another-was-tried-later": _beside(11),
    "delivered-late": _delivered(10 * MINUTE),
    "the-cut-was-over": _cut(BEGAN + 30 * SECOND),
    "fails-together": _together(),
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


def test_says_by_when_it_had_to_begin(results: Results) -> None:
    (example,) = results["a-little-late"].examples
    assert example.detail.endswith(
        "again at 0:23:21.501; after the failure at 0:20:00.100 by 0:23:21.500"
    )
