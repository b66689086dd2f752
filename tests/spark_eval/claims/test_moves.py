"""What claims make of a mailbox that moved: where it was when, to the moment (SN-8, DD-3)."""

from __future__ import annotations

import pytest

from spark_eval.claims.mail.deferred_for_cause import CLAIM as DEFERRED
from spark_eval.claims.mail.no_loss import CLAIM as NO_LOSS
from spark_eval.claims.mail.no_visible_duplicate import CLAIM as NO_DUPLICATE
from spark_eval.claims.mail.recipients_fit import CLAIM as RECIPIENTS_FIT
from spark_eval.claims.node.duplicates_logged import CLAIM as DUPLICATES_LOGGED
from spark_eval.claims.routing.routed_as_computed import CLAIM as ROUTED
from spark_eval.claims.safety_net.resubmission_bounded import CLAIM as BOUNDED
from spark_eval.histories.organisation.moves import Move
from spark_eval.intervals.interval import FOREVER_MS, Interval
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.move_runs import (
    BEGUN,
    MOVED,
    SEEN,
    SERVER,
    STAYS,
    WHO,
    delivered,
    given_back,
    moving,
)
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, made

BEFORE, DURING, AFTER = 10 * MINUTE, MOVED + SECOND // 2, 50 * MINUTE
LONG = 25 * MINUTE


def _into(at_ms: int, database: str, *, seen_ms: int = SEEN) -> Run:
    run = moving(seen_ms=seen_ms)
    delivered(run, at_ms, database)
    return run


def _stays(took_effect: bool | None, database: str) -> Run:
    """A move that was given up, or of which nobody saw the end."""
    run = moving(took_effect=took_effect)
    delivered(run, AFTER, database, seen_in=database)
    return run


def _paused() -> Run:
    """A server that is paused goes by it when it goes on."""
    run = _into(40 * MINUTE, "DB1")
    run.away("pause", "par-mbx2", 19 * MINUTE, 40 * MINUTE)
    run.away("pause", SERVER, 19 * MINUTE, 40 * MINUTE, fault="f2")
    return run


HOLDS = {
    "before": _into(BEFORE, "DB1"),
    "after": _into(AFTER, "DB2"),
    "old-place-while-it-is-under-way": _into(DURING, "DB1"),
    "new-place-while-it-is-under-way": _into(DURING, "DB2"),
    "old-place-in-a-long-move": _into(22 * MINUTE, "DB1", seen_ms=LONG),
    "given-up-and-in-the-old-place": _stays(False, "DB1"),
    "nobody-knows-and-in-the-old-place": _stays(None, "DB1"),
    "nobody-knows-and-in-the-new-place": _stays(None, "DB2"),
    "paused-meanwhile": _paused(),
}
MISROUTED = {
    "too-early": _into(BEFORE, "DB2"),
    "too-late": _into(AFTER, "DB1"),
    "given-up-and-in-the-new-place": _stays(False, "DB2"),
}


def _others_stay() -> Run:
    run = moving()
    delivered(run, AFTER, "DB1", whom=STAYS, seen_in="DB1")
    return run


def _left_behind() -> Run:
    run = moving()
    delivered(run, BEFORE, "DB1", seen_in=None)
    return run


def _twice(first: str, second: str, *, first_ms: int = BEFORE, second_ms: int = AFTER) -> Run:
    run = moving()
    message = delivered(run, first_ms, first)
    delivered(run, second_ms, second, message=message)
    return run


def _turfed_by(database: str, at_ms: int) -> Run:
    run = moving()
    message = delivered(run, BEFORE, "DB1")
    delivered(run, at_ms, database, message=message, seen_in=None, event="DUPLICATEDELIVER")
    return run


def _given_back(database: str, at_ms: int) -> Run:
    run = moving()
    message = delivered(run, BEFORE, "DB1")
    given_back(run, message, at_ms, database)
    return run


def _put_off(at_ms: int, whom: str = WHO) -> Run:
    run = moving(seen_ms=LONG)
    message = run.accept(at_ms - MINUTE, [whom], SERVER)
    run.log(SERVER, "DEFER", "QUEUE", at_ms, message, source_context="432 4.2.0 STOREDRIVER",
            custom={"Fork": "database:DB1"})  # fmt: skip
    return run


OTHERS = {
    "others-stay": _others_stay(),
    "left-behind": _left_behind(),
    "seen-once-of-each-database": _twice("DB1", "DB2"),
    "seen-twice-of-the-new-one": _twice("DB2", "DB2", first_ms=AFTER, second_ms=AFTER + MINUTE),
    "seen-twice-of-the-old-one": _twice("DB1", "DB1", second_ms=BEFORE + MINUTE),
    "turfed-where-it-was": _turfed_by("DB1", BEFORE + MINUTE),
    "turfed-where-it-never-was": _turfed_by("DB2", AFTER),
    "given-back-to-where-it-is": _given_back("DB2", AFTER),
    "given-back-to-where-it-was": _given_back("DB1", AFTER),
    "put-off-while-it-is-under-way": _put_off(22 * MINUTE),
    "put-off-for-nothing": _put_off(AFTER),
    "put-off-while-another-one-moves": _put_off(22 * MINUTE, STAYS),
}


def runs() -> dict[str, Run]:
    return made(HOLDS | MISROUTED | OTHERS)


@pytest.fixture(scope="module")
def results(ask: Ask) -> dict[str, Results]:
    claims = (
        RECIPIENTS_FIT, ROUTED, NO_LOSS, NO_DUPLICATE, DUPLICATES_LOGGED, BOUNDED, DEFERRED,
    )  # fmt: skip
    return {claim.name: ask(claim) for claim in claims}


@pytest.mark.parametrize("name", [*HOLDS, "others-stay"])
def test_mail_goes_to_where_a_mailbox_may_be_just_then(
    name: str, results: dict[str, Results]
) -> None:
    for claim in ("recipients_fit", "routed_as_computed", "no_loss"):
        assert (claim, results[claim][name].violations) == (claim, 0)


@pytest.mark.parametrize("name", MISROUTED)
def test_mail_that_goes_elsewhere_is_noticed(name: str, results: dict[str, Results]) -> None:
    for claim in ("recipients_fit", "routed_as_computed"):
        assert results[claim][name].violations > 0, claim


def test_what_was_seen_and_is_not_there_any_more_is_lost(results: dict[str, Results]) -> None:
    assert results["no_loss"]["left-behind"].violations == 1


@pytest.mark.parametrize(
    ("name", "violations"),
    [
        ("seen-once-of-each-database", 0),
        ("seen-twice-of-the-new-one", 1),
        ("seen-twice-of-the-old-one", 1),
    ],
)
def test_what_a_database_remembers_does_not_follow_a_mailbox(
    name: str, violations: int, results: dict[str, Results]
) -> None:
    assert results["no_visible_duplicate"][name].violations == violations


@pytest.mark.parametrize(
    ("name", "violations"), [("turfed-where-it-was", 0), ("turfed-where-it-never-was", 1)]
)
def test_a_database_hides_what_it_took_itself(
    name: str, violations: int, results: dict[str, Results]
) -> None:
    assert results["duplicates_logged"][name].violations == violations


def test_a_safety_net_gives_back_to_where_the_mailbox_is(results: dict[str, Results]) -> None:
    found = results["resubmission_bounded"]
    (example, *_) = found["given-back-to-where-it-was"].examples
    assert example.detail.endswith(f"for {WHO}, no mailbox of DB1")
    details = [each.detail for each in found["given-back-to-where-it-is"].examples]
    assert not [each for each in details if "no mailbox of" in each]


@pytest.mark.parametrize(
    ("name", "violations"),
    [
        ("put-off-while-it-is-under-way", 0),
        ("put-off-for-nothing", 1),
        ("put-off-while-another-one-moves", 1),
    ],
)
def test_a_mailbox_that_moves_is_a_cause_to_put_its_own_mail_off(
    name: str, violations: int, results: dict[str, Results]
) -> None:
    assert results["deferred_for_cause"][name].violations == violations


@pytest.mark.parametrize(
    ("span", "places"),
    [
        ((0, MOVED - 1), ("DB1",)),
        ((0, MOVED), ("DB1", "DB2")),
        ((SEEN, SEEN), ("DB1", "DB2")),
        ((SEEN + 1, FOREVER_MS), ("DB2",)),
    ],
)
def test_where_a_mailbox_was_is_a_function_of_time(
    span: tuple[int, int], places: tuple[str, ...]
) -> None:
    sure = Move(Interval(BEGUN, SEEN), MOVED, "DB1", "DB2", is_sure=True)
    assert sure.places(*span) == places
    unsure = Move(Interval(BEGUN, FOREVER_MS), MOVED, "DB1", "DB2", is_sure=False)
    assert "DB1" in unsure.places(*span)
