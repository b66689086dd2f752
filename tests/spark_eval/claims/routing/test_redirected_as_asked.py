from __future__ import annotations

import pytest

from spark_eval.claims.routing.redirected_as_asked import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.test_redirections import ASKED, CAME, FROM, OVER, TO, asked
from tests.spark_eval.runs.run_builder import DOMAIN, MINUTE, SECOND, Run, made, user

ONE, TWO = user(1), user(2)


def requested(*said: str, at_ms: int = OVER, takes: bool = True) -> Run:
    """`said`, after the answer, of its redirection."""
    run = asked(says=False)
    run.operations[-1]["took_effect"] = takes
    for event in said:
        began = event == "redirection-begun"
        run.life(FROM, event, ASKED + SECOND if began else at_ms, server=TO, count=1)
    return run


BEGUN, COMPLETED, GIVEN_UP = "redirection-begun", "redirection-completed", "redirection-given-up"


def left(
    *, sent_to: tuple[str, ...] = (), at_ms: int = OVER - MINUTE, deferred: bool = True
) -> Run:
    """A message waits for two; some of them are served, or nobody."""
    run = requested(BEGUN, COMPLETED)
    message = run.accept(CAME, [ONE, TWO])
    if deferred:
        run.log(FROM, "DEFER", "QUEUE", CAME + MINUTE, message, source_context="refused",
                custom={"Fork": "database:DB1"})  # fmt: skip
    if sent_to:
        run.log(FROM, "SEND", "SMTP", at_ms, message, recipients=list(sent_to),
                server_hostname=f"{TO}.{DOMAIN}", custom={"Fork": f"redirect:{TO}"})  # fmt: skip
    return run


def cut() -> Run:
    run = requested(BEGUN, GIVEN_UP)
    run.cut(FROM, TO, OVER - MINUTE, OVER + MINUTE)
    return run


def killed() -> Run:
    run = requested(BEGUN)
    run.kill(FROM, 20 * MINUTE, 22 * MINUTE)
    return run


HOLDS = {
    "completed": requested(BEGUN, COMPLETED),
    "given-up-since-it-was-cut-off": cut(),
    "all-went": left(sent_to=(ONE, TWO)),
    "went-before-it-began": left(sent_to=(ONE, TWO), at_ms=CAME + 2 * MINUTE),
    "may-not-have-waited": left(deferred=False),
}
VIOLATED = {
    "never-began": (requested(), "agreed to redirect its messages to lyo-mbx2, and did not begin"),
    "given-up-for-nothing": (requested(BEGUN, GIVEN_UP), "nothing was in the way of lyo-mbx2"),
    "never-ended": (requested(BEGUN), "redirects its messages to lyo-mbx2 since 0:10:01"),
    "one-is-left": (left(sent_to=(ONE,)), "had redirected all its messages by 0:30:00"),
    "one-went-later": (
        left(sent_to=(ONE,), at_ms=OVER + 5 * MINUTE), "had redirected all its messages",
    ),
}  # fmt: skip
NOTHING = {"refused": requested(takes=False), "its-server-died": killed()}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **{name: run for name, (run, _) in VIOLATED.items()}, **NOTHING})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs == {"SR-12": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated", results[name]
    assert any(VIOLATED[name][1] in each.detail for each in results[name].examples)


@pytest.mark.parametrize("name", NOTHING)
def test_asks_nothing(name: str, results: Results) -> None:
    assert results[name].asked_nothing


def test_asks_each_recipient_who_waited(results: Results) -> None:
    assert [results[name].asked for name in ("all-went", "may-not-have-waited")] == [3, 1]
