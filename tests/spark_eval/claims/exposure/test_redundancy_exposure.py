from __future__ import annotations

import pytest

from spark_eval.claims.exposure.redundancy_exposure import CLAIM
from spark_eval.judging.results import ClaimResult
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, user


def _unprotected(*, said: bool, swallowed: bool = False) -> Run:
    """For nine minutes; `said`: its server logged that it accepted it so; `swallowed`: a kill may
    have taken that row.
    """
    run = empty()
    run.finish(run.accept(MINUTE, [user(1)], shadow=None), 10 * MINUTE)
    if not said:
        run.remove("par-mbx1", "HAREDIRECTFAIL")
    if swallowed:
        run.kill("par-mbx1", MINUTE + SECOND, 2 * MINUTE)
    return run


def _held(*, shadow: bool = True, listed: bool = True, swallowed: bool = False) -> Run:
    """Accepted with a shadow and delivered after nine minutes; `shadow`: its server had it;
    `listed`: it still has it in its Safety Net; `swallowed`: a kill may have taken its rows.
    """
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, 10 * MINUTE)
    run.let_go(message, 12 * MINUTE)
    if not shadow:
        run.remove("lyo-mbx1", "HARECEIVE")
        run.remove("lyo-mbx1", "HADISCARD")
    if not shadow or not listed:
        run.queues["lyo-mbx1"] = []
    if swallowed:
        run.kill("lyo-mbx1", MINUTE + SECOND, 2 * MINUTE)
    return run


def _lost() -> Run:
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.kill("par-mbx1", 2 * MINUTE, 30 * MINUTE, new_database=True)
    run.promote(message, 32 * MINUTE, "database-id-changed")
    return run


def _unlisted() -> Run:
    run = _held()
    run.drop.add("logs/lyo-mbx1/queues.jsonl")
    return run


def runs() -> dict[str, Run]:
    return {
        "sound": _held(),
        "accepted so": _unprotected(said=True),
        "accepted in silence": _unprotected(said=False),
        "accepted before a kill": _unprotected(said=False, swallowed=True),
        "a shadow that nobody has": _held(shadow=False),
        "a shadow whose row a kill may have taken": _held(shadow=False, swallowed=True),
        "a queue database was lost": _lost(),
        "gone from the Safety Net": _held(listed=False),
        "no listing": _unlisted(),
        "nothing sent": empty(),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


HOLDS = ["sound", "accepted so", "a queue database was lost"]


@pytest.mark.parametrize("name", HOLDS)
def test_a_reason_that_the_record_names_is_enough(results: Results, name: str) -> None:
    assert (results[name].status, results[name].asked > 0) == ("holds", True)


def _first(result: ClaimResult) -> str:
    return result.examples[0].detail


@pytest.mark.parametrize("name", ["accepted in silence", "a shadow that nobody has"])
def test_a_single_custodian_without_a_word_is_a_violation(results: Results, name: str) -> None:
    assert (results[name].status, results[name].violations) == ("violated", 1)
    assert _first(results[name]) == "on par-mbx1 for 0:08:59.050, and nothing says why"


def test_what_a_hole_in_a_log_may_hide_is_unknown(results: Results) -> None:
    found = results["accepted before a kill"]
    assert (found.violations, found.status) == (0, "unknown")


@pytest.mark.parametrize(
    "name", ["gone from the Safety Net", "a shadow whose row a kill may have taken"]
)
def test_who_is_counted_at_the_end_has_it_there(results: Results, name: str) -> None:
    found = results[name]
    assert (found.status, found.violations) == ("violated", 1)
    assert "in none of the queues of lyo-mbx1" in _first(found)


def test_without_a_listing_nobody_knows(results: Results) -> None:
    assert (results["no listing"].violations, results["no listing"].status) == (0, "unknown")


def test_nothing_sent_is_nothing_asked(results: Results) -> None:
    assert results["nothing sent"].asked == 0
