from __future__ import annotations

import pytest

from spark_eval.claims.shadow.single_copies_reported import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, Message, Run, empty, healthy, made, user

SHADOW, PRIMARY = "lyo-mbx1", "par-mbx1"
CAME, LOST, BACK, REACHED, DONE = 10 * MINUTE, 20 * MINUTE, 25 * MINUTE, 30 * MINUTE, 2 * HOUR


def _waits(*, is_lost: bool = True, is_reached: bool = True) -> tuple[Run, Message]:
    """A message of par-mbx1, whose shadow lyo-mbx1 loses; a session to it stands after that."""
    run = empty()
    message = run.accept(CAME, [user(1)], PRIMARY, SHADOW)
    if is_lost:
        run.kill(SHADOW, LOST, BACK, new_database=True)
    if is_reached:
        run.session(PRIMARY, SHADOW, REACHED, asks_after_ms=None)
    return run, message


def _said(
    at_ms: int | None,
    *,
    holder: str = SHADOW,
    is_lost: bool = True,
    is_reached: bool = True,
    again_ms: int | None = None,
    done_ms: int = DONE,
) -> Run:
    run, message = _waits(is_lost=is_lost, is_reached=is_reached)
    if at_ms is not None:
        run.log(PRIMARY, "HAREDIRECTFAIL", "SMTP", at_ms, message,
                custom={"ShadowServer": holder, "Outcome": "single-copy"})  # fmt: skip
    if again_ms is not None:
        run.log(PRIMARY, "HAREDIRECT", "SMTP", again_ms, message,
                custom={"ShadowServer": "lyo-mbx2", "Attempts": 1})  # fmt: skip
    run.finish(message, done_ms)
    return run


def _full() -> Run:
    run = _said(None)
    run.away("fill_disk", PRIMARY, REACHED - MINUTE, REACHED + MINUTE)
    return run


HOLDS = {"said": _said(REACHED)}
VIOLATED = {
    "never-said": _said(None),
    "said-late": _said(REACHED + 30 * MINUTE),
    "said-of-what-is-held": _said(REACHED, is_lost=False),
    "another-holder": _said(REACHED, holder="lyo-mbx2", is_reached=False),
    "shadowed-again": _said(REACHED, again_ms=REACHED + MINUTE),
    "said-before-it-was-lost": _said(CAME + MINUTE, is_reached=False),
}
NOT_ASKED = {
    "nobody-went-there": _said(None, is_reached=False),
    "delivered-before": _said(None, done_ms=REACHED - MINUTE),
    "the-disk-was-full": _full(),
    "healthy": healthy(),
    "nothing": empty(),
}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **VIOLATED, **NOT_ASKED})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs == {"SM-17": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated", results[name].examples


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_nobody_could_know(name: str, results: Results) -> None:
    assert results[name].asked_nothing
