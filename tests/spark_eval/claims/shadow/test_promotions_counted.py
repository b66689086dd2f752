from __future__ import annotations

import pytest

from spark_eval.claims.shadow.promotions_counted import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import END, HOUR, MINUTE, SECOND, Run, empty, made, user

SERVER, PRIMARY, CAUSE = "lyo-mbx1", "par-mbx1", "resubmit-time-span"


def _begins(run: Run, at_ms: int, count: int, primary: str = PRIMARY, cause: str = CAUSE) -> Run:
    run.life(SERVER, "promotion-begun", at_ms, primary=primary, cause=cause, count=count)
    return run


def _promoted(said: int, *, promoted: int = 2, at_ms: int = HOUR, probe: bool = False) -> Run:
    run = empty()
    for _ in range(promoted):
        message = run.accept(MINUTE, [user(1)])
        run.promote(message, at_ms + SECOND, CAUSE)
    if probe:
        message = run.accept(MINUTE, [user(1)])
        message.message_id = "<probe.1@lab>"
        run.log(SERVER, "RESUBMIT", "REDUNDANCY", at_ms + SECOND, message, internal_id=700,
                source_context=CAUSE, custom=run.key(message))  # fmt: skip
    return _begins(run, at_ms, said)


def _away(kind: str) -> Run:
    run = _promoted(5)
    run.away(kind, SERVER, HOUR + SECOND, HOUR + MINUTE)
    return run


def _killed() -> Run:
    run = _promoted(5)
    run.kill(SERVER, HOUR + SECOND, HOUR + MINUTE)
    return run


HOLDS = {
    "as-many": _promoted(2),
    "a-probe-as-well": _promoted(3, probe=True),
    "two-together": _begins(_promoted(1), HOUR + 500, 1),
    "another-before": _begins(_promoted(2), MINUTE, 0),
}
VIOLATED = {
    "more": _promoted(3),
    "fewer": _promoted(1),
    "none": _promoted(1, promoted=0),
    "of-another-primary": _begins(_promoted(2), HOUR, 1, primary="par-mbx2"),
    "for-another-cause": _begins(_promoted(2), HOUR, 1, cause="database-id-changed"),
}
NOT_ASKED = {
    "nothing-promoted": empty(),
    "run-over": _promoted(3, at_ms=END - MINUTE),
    "paused": _away("pause"),
    "disk-full": _away("fill_disk"),
    "killed": _killed(),
}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **VIOLATED, **NOT_ASKED})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs == {"TL-4": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result.examples


def test_says_how_many_follow(results: Results) -> None:
    (example,) = results["more"].examples
    assert example.detail == (
        "lyo-mbx1 says at 1:00:00.000 that it promotes 3 messages of par-mbx1 by "
        "resubmit-time-span; 2 RESUBMIT rows follow"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_a_promotion_may_have_been_held_up(name: str, results: Results) -> None:
    assert results[name].asked_nothing, results[name].examples
