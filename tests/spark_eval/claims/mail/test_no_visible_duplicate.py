from __future__ import annotations

import pytest

from spark_eval.claims.mail.no_visible_duplicate import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import back_after_span, new_database
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, Run, empty, healthy


def _twice(later_ms: int = MINUTE, **changed: int) -> Run:
    run = healthy()
    first = run.mailboxes["DB1"][0]
    run.mailboxes["DB1"].append(
        {**first, "delivered_ms": first["delivered_ms"] + later_ms, **changed}
    )
    return run


def _twice_outside(*, promoted: bool) -> Run:
    run = new_database().run if promoted else healthy()
    message = run.accept(30 * MINUTE, ["someone@partner.example"])
    run.finish(message, 30 * MINUTE + 2000)
    if promoted:
        run.promote(message, 31 * MINUTE, "database-id-changed")
    else:
        run.show(message, 31 * MINUTE)
    return run


def _with_window(run: Run, window_ms: int) -> Run:
    """As plans are now: of the database, whatever its servers have."""
    run.plan["topology"]["databases"][0]["duplicate_detection_window_ms"] = window_ms
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": healthy(),
        "empty": empty(),
        "hidden": back_after_span().run,
        "twice": _twice(),
        "other-date": _twice(submitted_ms=5),
        "window-over": _twice(later_ms=200 * HOUR),
        "own-window-over": _with_window(_twice(later_ms=2 * HOUR), HOUR),
        "own-window-not-over": _with_window(_twice(later_ms=200 * HOUR), 300 * HOUR),
        "outside": _twice_outside(promoted=False),
        "outside-promoted": _twice_outside(promoted=True),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_each_mailbox_has_one_copy(results: Results) -> None:
    assert (results["healthy"].status, results["healthy"].proofs["DD-1"]) == ("holds", "holds")


def test_proves_sm_9_where_a_promoted_copy_was_hidden(results: Results) -> None:
    assert results["hidden"].proofs["SM-9"] == "holds"


def test_is_violated_by_a_second_copy_with_the_same_date(results: Results) -> None:
    result = results["twice"]
    assert (result.status, result.violations) == ("violated", 1)
    assert result.examples[0].refs == (("mailboxes/DB1.jsonl", 1), ("mailboxes/DB1.jsonl", 9))


def test_is_violated_by_a_copy_with_another_date_than_its_sender_gave(
    results: Results,
) -> None:
    [example] = results["other-date"].examples
    assert example.detail == (
        "the submit time in DB1 is 1970-01-01 00:00:00.005, and its sender gave 2026-01-05 08:01:00"
    )
    assert example.refs[:2] == (("mailboxes/DB1.jsonl", 9), ("ledger.jsonl", 1))


def test_permits_copies_further_apart_than_the_window(results: Results) -> None:
    assert results["window-over"].proofs["DD-2"] == "holds"


def test_the_window_is_the_database_s_own(results: Results) -> None:
    assert results["own-window-over"].proofs["DD-2"] == "holds"
    assert results["own-window-not-over"].violations == 1


def test_is_violated_by_copies_outside_that_nothing_explains(
    results: Results,
) -> None:
    assert results["outside"].violations == 1
    assert results["outside-promoted"].status == "holds"


def test_is_unknown_where_nothing_was_delivered(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)
