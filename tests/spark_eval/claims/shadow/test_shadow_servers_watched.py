from __future__ import annotations

import pytest

from spark_eval.claims.shadow.shadow_servers_watched import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, Run, empty, made, user

SHADOW, PRIMARY = "lyo-mbx1", "par-mbx1"
CAME, DONE = 10 * MINUTE, 2 * HOUR
THREE = 6 * MINUTE


def _held(*asked: int, until_ms: int = DONE) -> Run:
    """A message waits at par-mbx1; lyo-mbx1, which has its shadow, asks in these minutes."""
    run = empty()
    run.plan["settings"]["TransportConfig"]["ShadowHeartbeatFrequency"] = 10 * MINUTE
    for server in (SHADOW, PRIMARY):
        run.life(server, "started", SECOND, database_id=run.database_ids[server])
    message = run.accept(CAME, [user(1)], PRIMARY, SHADOW)
    for minute in asked:
        run.contact(SHADOW, PRIMARY, minute * MINUTE)
    run.finish(message, until_ms)
    return run


def _said(run: Run, **minutes: int) -> Run:
    for word, minute in minutes.items():
        run.life(PRIMARY, f"shadow-server-{word}", minute * MINUTE, server=SHADOW)
    return run


def _asks(from_: int = 20) -> list[int]:
    return list(range(from_, 240, 10))


def _restarted() -> Run:
    run = _held(20, *_asks(100))
    run.kill(PRIMARY, 30 * MINUTE, 40 * MINUTE)
    return _said(run, silent=71, returned=100)


HOLDS = {
    "silent-and-back": _said(_held(20, *_asks(90)), silent=50, returned=90),
    "from-when-it-came": _said(_held(*_asks(90)), silent=41, returned=90),
    "silent-to-the-end": _said(_held(20), silent=50),
    "counted-from-the-restart": _restarted(),
}
VIOLATED = {
    "never-said": _held(20, *_asks(90)),
    "said-late": _said(_held(20, *_asks(90)), silent=80, returned=90),
    "not-said-to-be-back": _said(_held(20, *_asks(90)), silent=50),
    "said-of-one-that-asks": _said(_held(*_asks()), silent=55, returned=60),
    "said-of-one-that-holds-nothing": _said(_held(20, until_ms=CAME + SECOND), silent=70),
    "back-and-never-away": _said(_held(*_asks()), returned=60),
    "back-and-did-not-ask": _said(_held(20, *_asks(100)), silent=50, returned=80),
}
NOT_ASKED = {"it-asks-all-the-time": _held(*_asks()), "nothing": empty()}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **VIOLATED, **NOT_ASKED})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs == {"SM-20": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated", results[name].examples


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_nobody_was_silent(name: str, results: Results) -> None:
    assert results[name].asked_nothing
