"""What heartbeats_paced asks all the time that shadow messages are held."""

from __future__ import annotations

import pytest

from spark_eval.claims.shadow.heartbeats_paced import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    END,
    HEARTBEAT,
    MINUTE,
    SECOND,
    Run,
    empty,
    made,
    user,
)

SERVER, PRIMARY = "lyo-mbx1", "par-mbx1"
BEGAN = 20 * MINUTE
# a wall second: by then its row is there
EXCHANGE = MINUTE
# a second, two of the wall at 60 times its speed, a quarter of one, and the clock's resolution
LATE = SECOND + 120 * SECOND + 900 + 15 * SECOND + 4_500


def _held(*beats_ms: int, until_ms: int, failed: bool = False) -> Run:
    """From BEGAN on for so long; heartbeats begin so long after that."""
    run = empty()
    message = run.accept(BEGAN - EXCHANGE - 300, [user(1)])
    message.done_ms = BEGAN + until_ms
    run.let_go(message, BEGAN + until_ms + EXCHANGE)
    for at_ms in beats_ms:
        run.begin(SERVER, PRIMARY, BEGAN + at_ms)
        if failed:
            began_ms = BEGAN + at_ms
            run.contact(SERVER, PRIMARY, began_ms + SECOND, failed=True, asked_ms=began_ms)
    return run


def _answered(*at_ms: int, until_ms: int) -> Run:
    """In sessions for mail."""
    run = _held(until_ms=until_ms)
    for each in at_ms:
        run.contact(SERVER, PRIMARY, BEGAN + each)
    return run


def _asked_late(until_ms: int) -> Run:
    """An answer says nothing of later than its question."""
    run = _held(until_ms=until_ms)
    run.contact(SERVER, PRIMARY, BEGAN + HEARTBEAT, asked_ms=BEGAN - 5 * MINUTE)
    return run


def _restarted(*beats_ms: int, until_ms: int) -> Run:
    run = _held(*beats_ms, until_ms=until_ms)
    run.life(SERVER, "started", BEGAN + MINUTE, database_id=run.database_ids[SERVER])
    return run


def _away(kind: str, until_ms: int) -> Run:
    """From just after the beginning until a minute before the end."""
    run = _held(until_ms=until_ms)
    run.away(kind, SERVER, BEGAN + SECOND, BEGAN + until_ms - MINUTE)
    return run


def _listed() -> Run:
    """It is in the shadow queue at the end."""
    run = empty()
    message = run.accept(END - 10 * MINUTE, [user(1)])
    run._own(SERVER, "shadow", message, 1000 + message.internal_id)
    return run


def _never_seen_again() -> Run:
    run = _listed()
    run.queues.pop(SERVER)
    return run


IN_TIME = HEARTBEAT + LATE
HOLDS = {
    "not-long": _held(until_ms=IN_TIME),
    "in-time": _held(HEARTBEAT, 2 * HEARTBEAT, until_ms=2 * HEARTBEAT + IN_TIME),
    "failed": _held(HEARTBEAT, failed=True, until_ms=HEARTBEAT + IN_TIME),
    "answered-otherwise": _answered(HEARTBEAT, 2 * HEARTBEAT, until_ms=2 * HEARTBEAT + IN_TIME),
    "restarted": _restarted(until_ms=MINUTE + IN_TIME),
    "paused": _away("pause", 30 * MINUTE),
    "disk-full": _away("fill_disk", 30 * MINUTE),
}
VIOLATED = {
    "never": _held(until_ms=IN_TIME + 1),
    "not-again": _held(HEARTBEAT, until_ms=HEARTBEAT + IN_TIME + 1),
    "not-again-after-a-failure": _held(HEARTBEAT, failed=True, until_ms=HEARTBEAT + IN_TIME + 1),
    "one-left-out": _held(0, IN_TIME + SECOND, until_ms=IN_TIME + SECOND),
    "not-again-after-an-answer": _answered(HEARTBEAT, until_ms=HEARTBEAT + IN_TIME + 1),
    "answered-to-an-older-question": _asked_late(IN_TIME + 1),
    "not-after-a-restart": _restarted(until_ms=MINUTE + IN_TIME + 1),
    "held-at-the-end": _listed(),
}
NOT_ASKED = {"nothing-held": empty(), "never-seen-again": _never_seen_again()}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **VIOLATED, **NOT_ASKED})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result.examples


def test_says_by_when_it_was_due(results: Results) -> None:
    (example,) = results["not-again"].examples
    assert example.detail == (
        "lyo-mbx1 held shadow messages of par-mbx1 until 0:26:21.401 at least; it opened no "
        "session only to ask by 0:24:00.000"
    )
    assert example.refs == (("logs/lyo-mbx1/CONNECTLOG20260105-1.LOG", 6),)


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_nothing_shows_that_it_was_held(name: str, results: Results) -> None:
    assert results[name].asked_nothing
