"""back_pressure_kept: levels by their thresholds, and what is refused at each."""

from __future__ import annotations

import pytest

from spark_eval.claims.node.back_pressure_kept import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.pressure.pressed_runs import (
    BEGAN,
    OTHER,
    OVER,
    QUEUE,
    SERVER,
    give_back,
    level,
    used,
    with_volume,
)
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, made, user

MIDST = BEGAN + 5 * MINUTE
REFUSED = "452 4.3.1 Insufficient system resources"


def offered(reply: str, outcome: str = "failed") -> Run:
    run = used()
    message_id = run.submit(MIDST, [user(1)])
    run.attempt(message_id, SERVER, MIDST, outcome, reply, MIDST + SECOND)
    return run


def took_mail() -> Run:
    run = used()
    run.accept(MIDST, [user(1)], SERVER)
    return run


def took_a_shadow() -> Run:
    run = used()
    run.accept(MIDST, [user(1)], OTHER, SERVER)
    return run


def gave_back(at_ms: int, source: str = "SAFETYNET") -> Run:
    run = used()
    message = run.deliver(2 * MINUTE, [user(1)])
    give_back(run, message, at_ms)
    run.tracking[SERVER][-1]["source"] = source
    return run


def queue(*steps: tuple[str, str, int]) -> Run:
    run = empty()
    for number, (before, after, figure) in enumerate(steps):
        level(run, BEGAN + number * MINUTE, before, after, figure, QUEUE)
    return run


def without_a_fault() -> Run:
    run = with_volume(empty())
    level(run, BEGAN, "normal", "medium", 97)
    return run


def put_off(*, at_ms: int, percent: int) -> Run:
    run = used(percent)
    message = run.accept(at_ms - MINUTE, [user(1)], OTHER, "lyo-mbx2")
    run.log(OTHER, "DEFER", "QUEUE", at_ms, message, source_context=REFUSED,
            custom={"Fork": "dag:DAG2"})  # fmt: skip
    return run


HOLDS = {
    "medium": used(),
    "high": used(99),
    "below-every-threshold": offered(REFUSED),
    "took-it-before": gave_back(BEGAN - MINUTE),
    "promoted-meanwhile": gave_back(MIDST, "REDUNDANCY"),
    "a-queue-by-its-thresholds": queue(("normal", "medium", 9999), ("medium", "normal", 2000)),
    "put-off-by-one-at-the-high-level": put_off(at_ms=MIDST, percent=99),
}
VIOLATED = {
    "says-no-level": (used(says=False), "its level of back pressure is not medium"),
    "does-not-recover": (used(recovers=False), "is still under back pressure"),
    "took-mail": (took_mail(), "par-mbx1 took mail from outside"),
    "took-a-shadow": (took_a_shadow(), "par-mbx1 took a shadow message"),
    "gave-back": (gave_back(MIDST), "par-mbx1 took a message of its Safety Net"),
    "refused-for-good": (offered("554 5.3.1 no room"), "refused it for good"),
    "falls-too-soon": (queue(("normal", "medium", 9999), ("medium", "normal", 9000)), "at 9000"),
    "rises-too-soon": (queue(("normal", "medium", 9000)), "at 9000"),
    "begins-elsewhere": (queue(("medium", "high", 15_000)), "and it was normal"),
    "no-cause": (without_a_fault(), "nothing has used the volume up"),
    "put-off-by-one-at-the-medium-level": (
        put_off(at_ms=MIDST, percent=97), "none was at the high level",
    ),
}  # fmt: skip


def runs() -> dict[str, Run]:
    return made({**HOLDS, **{name: run for name, (run, _) in VIOLATED.items()}, "calm": empty()})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated", results[name]
    assert any(VIOLATED[name][1] in each.detail for each in results[name].examples), results[name]


def test_asks_nothing_of_servers_without_pressure(results: Results) -> None:
    assert results["calm"].asked_nothing


def test_the_level_that_is_called_for_is_asked_for_twice(results: Results) -> None:
    """When it begins, and when it is over; beside the rows that say so."""
    assert results["medium"].asked == 4
    assert OVER > BEGAN
