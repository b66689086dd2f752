"""resubmission_waits and requests_changed: when a resubmission stands still, and for how long."""

from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.requests_changed import CLAIM as CHANGED
from spark_eval.claims.safety_net.resubmission_waits import CLAIM as WAITS
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.pressure.pressed_runs import (
    BEGAN,
    OVER,
    SERVER,
    give_back,
    operation,
    used,
)
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, made, user

ASKED, CHANGE = 9 * MINUTE, 14 * MINUTE
AGREED = (
    "par-mbx1: 250 2.0.0 Resubmit request changed; par-mbx2: 550 5.5.4 No such resubmit request"
)


def limited(run: Run, length: int, page: int = 1) -> Run:
    own = run.plan["settings"]["servers"][SERVER]["TransportService"]
    own |= {"ResubmissionQueueLength": length, "SafetyNetPageSize": page}
    return run


def given(count: int, *, done: bool, length: int = 3) -> Run:
    """So many come back within a second; `done`: each is delivered before the next one."""
    run = limited(empty(), length)
    for number in range(count):
        message = run.deliver(MINUTE + number * SECOND, [user(1)])
        at_ms = ASKED + number * MINUTE
        give_back(run, message, at_ms, done_ms=at_ms + SECOND if done else 50 * MINUTE)
    return run


def paused(
    reason: str, count: int = 0, *, pressed: bool = True, resumed_ms: int | None = OVER
) -> Run:
    run = limited(used() if pressed else empty(), 10)
    at_ms = BEGAN + MINUTE
    run.life(SERVER, "resubmit-paused", at_ms, request_id="o1", count=count, reason=reason)
    if resumed_ms is not None:
        run.life(SERVER, "resubmit-resumed", resumed_ms + 5 * SECOND, request_id="o1", count=0)
    return run


def changed(kind: str, answer: str = AGREED, *, back_ms: int | None = None) -> Run:
    run = limited(empty(), 10)
    operation(run, "o1", "resubmit", ASKED, "par-mbx1: 250 2.0.0 running 0", database="DB1",
              start_ms=0, end_ms=8 * MINUTE)  # fmt: skip
    run.life(SERVER, "resubmit-requested", ASKED, request_id="o1", safety_net="primary",
             database="DB1")  # fmt: skip
    operation(run, "o2", kind, CHANGE, answer, database="DB1", request="o1")
    message = run.deliver(MINUTE, [user(1)])
    if back_ms is not None:
        give_back(run, message, back_ms, done_ms=back_ms + SECOND)
    return run


def enabled_again(back_ms: int) -> Run:
    run = changed("disable_resubmit", back_ms=back_ms)
    operation(run, "o3", "enable_resubmit", 25 * MINUTE, AGREED, database="DB1", request="o1")
    return run


def completed_after(kind: str) -> Run:
    run = changed(kind)
    run.life(SERVER, "resubmit-completed", 20 * MINUTE, request_id="o1", safety_net="primary",
             database="DB1")  # fmt: skip
    return run


RUNS: dict[str, Run] = {
    "few-at-once": given(3, done=False),
    "many-one-after-the-other": given(9, done=True),
    "too-many-at-once": given(6, done=False),
    "waits-for-a-long-queue": paused("delivery queue", 10, pressed=False),
    "waits-for-a-short-queue": paused("delivery queue", 9, pressed=False),
    "waits-under-pressure": paused("back pressure"),
    "waits-under-no-pressure": paused("back pressure", pressed=False),
    "waits-for-ever": paused("back pressure", resumed_ms=None),
    "waits-for-nothing": paused("fun"),
    "disabled": changed("disable_resubmit"),
    "gives-back-before": changed("disable_resubmit", back_ms=CHANGE - MINUTE),
    "gives-back-after": changed("disable_resubmit", back_ms=CHANGE + 2 * MINUTE),
    "gives-back-what-is-removed": changed("remove_resubmit", back_ms=CHANGE + 2 * MINUTE),
    "refuses": changed("disable_resubmit", "par-mbx1: 503 5.5.1 Resubmit request is not"),
    "was-not-heard": changed("disable_resubmit", "par-mbx1: no answer"),
    "enabled-again": enabled_again(27 * MINUTE),
    "too-soon-before-it-is-enabled": enabled_again(20 * MINUTE),
    "completes-what-is-removed": completed_after("remove_resubmit"),
}
WAITING = {
    "few-at-once": "holds",
    "many-one-after-the-other": "holds",
    "too-many-at-once": "violated",
    "waits-for-a-long-queue": "holds",
    "waits-for-a-short-queue": "violated",
    "waits-under-pressure": "holds",
    "waits-under-no-pressure": "violated",
    "waits-for-ever": "violated",
    "waits-for-nothing": "violated",
}
CHANGING = {
    "disabled": "holds",
    "gives-back-before": "holds",
    "gives-back-after": "violated",
    "gives-back-what-is-removed": "violated",
    "refuses": "violated",
    "enabled-again": "holds",
    "too-soon-before-it-is-enabled": "violated",
    "completes-what-is-removed": "violated",
}


def runs() -> dict[str, Run]:
    return made(RUNS)


@pytest.fixture(scope="module")
def waiting(ask: Ask) -> Results:
    return ask(WAITS)


@pytest.fixture(scope="module")
def changing(ask: Ask) -> Results:
    return ask(CHANGED)


@pytest.mark.parametrize("name", WAITING)
def test_a_resubmission_waits_for_what_it_has_to(name: str, waiting: Results) -> None:
    assert waiting[name].status == WAITING[name], waiting[name].examples


@pytest.mark.parametrize("name", CHANGING)
def test_a_request_does_what_an_administrator_says(name: str, changing: Results) -> None:
    assert changing[name].status == CHANGING[name], changing[name].examples


def test_an_answer_that_nobody_heard_is_not_asked_for(changing: Results) -> None:
    assert changing["was-not-heard"].asked_nothing
