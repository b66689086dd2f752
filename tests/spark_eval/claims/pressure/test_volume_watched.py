"""volume_watched: what a server may have taken whose volume is small, and when it is relieved."""

from __future__ import annotations

import pytest

from spark_eval.claims.node.volume_watched import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.pressure.pressed_runs import SERVER, level, with_volume
from tests.spark_eval.runs.run_builder import MINUTE, Run, empty, made, user

SIZE = 16 * 1024 * 1024
"""Eight of them fill the volume, and seven are 87 %."""
HOLD = 30 * MINUTE


def taken(count: int, *, every_ms: int = MINUTE, hold_ms: int = HOLD, away: bool = False) -> Run:
    """So many large messages from outside, one after the other."""
    run = with_volume(empty())
    run.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = hold_ms
    for number in range(count):
        at_ms = MINUTE + number * every_ms
        message = run.deliver(at_ms, [user(1)])
        assert message.primary == SERVER
        sent = next(row for row in run.ledger if row.get("message_id") == message.message_id)
        sent["content_bytes"] = SIZE
    if away:
        run.away("disk_use", SERVER, MINUTE, 2 * MINUTE)
    return run


def pressed(count: int, *, until_ms: int | None, at_ms: int = 8 * MINUTE) -> Run:
    run = taken(count)
    level(run, at_ms, "normal", "medium", 97)
    if until_ms is not None:
        level(run, until_ms, "medium", "normal", 90)
    return run


HOLDS = {
    "has-room": taken(8),
    "left-in-between": taken(12, every_ms=5 * MINUTE),
    "relieved": pressed(7, until_ms=40 * MINUTE),
}
VIOLATED = {
    "took-more-than-there-is-room-for": (taken(10), "and had 150994944 bytes of it"),
    "is-not-relieved": (pressed(7, until_ms=None), "is at the level medium at the end"),
}
NOT_ASKED = {
    "a-fault-was-for-its-disk": taken(10, away=True),
    "no-volume": empty(),
}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **{name: run for name, (run, _) in VIOLATED.items()}, **NOT_ASKED})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name]


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated", results[name]
    assert any(VIOLATED[name][1] in each.detail for each in results[name].examples), results[name]


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing(name: str, results: Results) -> None:
    assert results[name].asked_nothing


def test_what_it_held_is_asked_once_and_the_end_only_where_it_was_ever_short(
    results: Results,
) -> None:
    assert results["has-room"].asked == 1
    assert results["relieved"].asked == 2
