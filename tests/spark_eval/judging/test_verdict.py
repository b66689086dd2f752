from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.scenario.requirements import REQUIREMENTS
from spark_eval.judging.asked import asked_of
from spark_eval.judging.catalogue import in_order
from spark_eval.judging.judge import histories_of
from spark_eval.judging.results import ClaimResult, Status
from spark_eval.judging.verdict import Asked, applied, reach
from spark_eval.read.folder.files import FolderFiles
from tests.spark_eval.runs.run_builder import empty

ASKED = Asked(
    proves=(),
    faults={},
    too_coarse="",
    expected="pass",
)


def _result(name: str, status: Status, **proofs: str) -> ClaimResult:
    return ClaimResult(
        name=name,
        requirements=("SM-6", "SM-7"),
        status=status,
        asked=3,
        violations=int(status == "violated"),
        reason="for a reason",
        proofs=proofs,
    )


def _results(*results: ClaimResult) -> dict[str, ClaimResult]:
    return {result.name: result for result in results}


HELD = _result("no_loss", "holds")


def test_passes_where_claims_hold() -> None:
    verdict = reach(_results(HELD), ASKED)
    assert (verdict.verdict, verdict.exit_code, verdict.reasons) == ("pass", 0, ())


def test_fails_where_a_claim_is_violated_whatever_else_is_open() -> None:
    asked = replace(ASKED, faults={"f1": None})
    verdict = reach(_results(HELD, _result("no_phantom", "violated")), asked)
    assert (verdict.verdict, verdict.exit_code) == ("fail", 1)
    assert verdict.reasons[0] == "no_phantom is violated: 1 of 3 checked"


def test_is_unknown_where_the_record_is_damaged() -> None:
    verdict = reach(_results(HELD), replace(ASKED, damage=("ledger.jsonl is damaged",)))
    assert (verdict.verdict, verdict.reasons) == ("unknown", ("ledger.jsonl is damaged",))


def test_does_not_mind_an_unknown_claim_that_nothing_needs() -> None:
    assert reach(_results(HELD, _result("no_phantom", "unknown")), ASKED).verdict == "pass"


def test_is_unknown_where_expect_needs_a_claim_that_is() -> None:
    verdict = reach(_results(_result("no_loss", "unknown")), replace(ASKED, needs=("no_loss",)))
    assert (verdict.verdict, verdict.exit_code) == ("unknown", 2)
    assert "for a reason" in verdict.reasons[0]


def test_is_unknown_where_what_is_to_be_proven_was_not_asked() -> None:
    asked = replace(ASKED, proves=("SM-7",))
    results = _results(_result("promotion_on_time", "holds", **{"SM-6": "holds"}))
    verdict = reach(results, asked)
    assert verdict.verdict == "unknown"
    assert verdict.reasons == ("SM-7 is to be proven and is not asked",)
    assert (verdict.requirements["SM-6"], verdict.requirements["SM-7"]) == ("proven", "not asked")


def test_names_every_requirement_those_that_no_claim_checks_as_such() -> None:
    told = reach(_results(_result("no_loss", "holds", **{"SM-6": "holds"})), ASKED).requirements
    assert list(told) == in_order(REQUIREMENTS)
    assert {name for name, status in told.items() if status != "not checked"} == {"SM-6", "SM-7"}


NOTHING = replace(_result("promotion_on_time", "unknown"), asked=0)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (ASKED, "not applicable"),
        (replace(ASKED, proves=("TL-7",)), "not applicable"),
        (replace(ASKED, proves=("SM-7",)), "unknown"),
        (replace(ASKED, needs=("promotion_on_time",)), "unknown"),
        (replace(ASKED, damage=("ledger.jsonl is damaged",)), "unknown"),
    ],
)
def test_a_claim_without_anything_to_ask_is_not_applicable_unless_something_needs_it(
    asked: Asked, status: str
) -> None:
    results = applied(_results(HELD, NOTHING), asked)
    assert (results["no_loss"].status, results["promotion_on_time"].status) == ("holds", status)


def test_what_another_claim_proved_needs_no_other() -> None:
    results = _results(_result("no_early_promotion", "holds", **{"SM-7": "holds"}), NOTHING)
    told = applied(results, replace(ASKED, proves=("SM-7",)))
    assert told["promotion_on_time"].status == "not applicable"


def test_a_claim_that_asked_and_cannot_tell_or_crashed_is_unknown() -> None:
    crashed = replace(NOTHING, name="no_phantom", crashed=True)
    results = applied(_results(_result("no_loss", "unknown"), crashed), ASKED)
    assert {result.status for result in results.values()} == {"unknown"}


def test_one_claim_that_holds_proves_a_requirement() -> None:
    asked = replace(ASKED, proves=("SM-7",))
    results = _results(
        _result("promotion_on_time", "unknown"),
        _result("no_early_promotion", "holds", **{"SM-7": "holds"}),
    )
    assert reach(results, asked).verdict == "pass"


def test_is_unknown_where_no_claim_checks_what_is_to_be_proven() -> None:
    verdict = reach(_results(HELD), replace(ASKED, proves=("TL-7",)))
    assert (verdict.verdict, verdict.requirements["TL-7"]) == ("unknown", "not checked")
    assert verdict.reasons == ("TL-7 is to be proven, and no claim checks it",)


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (None, "fault f1 has no evidence that it took effect"),
        (False, "fault f1 did not take effect"),
    ],
)
def test_is_unknown_where_a_fault_did_not_surely_take_effect(seen: bool | None, says: str) -> None:
    verdict = reach(_results(HELD), replace(ASKED, faults={"f1": seen, "f2": True}))
    assert (verdict.verdict, verdict.reasons) == ("unknown", (says,))


def test_says_why_a_fault_was_not_seen_where_the_record_does() -> None:
    why = "its place was never reached"
    verdict = reach(_results(HELD), replace(ASKED, faults={"f1": None}, unseen={"f1": why}))
    assert verdict.reasons == (f"fault f1 has no evidence that it took effect: {why}",)


def test_is_unknown_where_the_clock_was_too_coarse_for_what_was_judged() -> None:
    asked = replace(ASKED, too_coarse="too coarse")
    assert reach(_results(HELD), asked).verdict == "pass"
    results = _results(_result("discard_after_delivery", "unknown"))
    assert reach(results, asked).reasons == ("too coarse",)


def test_a_check_that_crashes_is_unknown_and_exits_3() -> None:
    crashed = replace(_result("no_phantom", "unknown"), crashed=True)
    verdict = reach(_results(HELD, crashed), ASKED)
    assert (verdict.verdict, verdict.exit_code) == ("unknown", 3)


@pytest.mark.parametrize(
    ("expect", "needs"),
    [
        ({}, ()),
        ({"lost": 0}, ("no_loss",)),
        ({"unprotected_loss": [0, 0]}, ("no_loss",)),
        ({"promotions": []}, ("no_early_promotion",)),
        ({"promotions": [{"of": "a"}]}, ("no_early_promotion", "promotion_on_time")),
        ({"resubmissions": []}, ("resubmission_bounded",)),
        ({"resubmissions": [{"database": "DB1"}]}, ("resubmission_bounded",)),
        ({"verdict": "fail"}, ()),
    ],
)
def test_each_key_of_expect_needs_the_claims_that_compare_it(
    expect: dict[str, object], needs: tuple[str, ...], tmp_path: Path
) -> None:
    run = empty()
    run.plan["expect"] = expect
    assert asked_of(histories_of(FolderFiles(run.write(tmp_path))).run).needs == needs


def test_a_failure_in_another_way_than_expected_is_not_as_expected() -> None:
    surprised = replace(_result("no_loss", "violated"), surprises=("expect.lost: 3, not 5",))
    asked = replace(ASKED, expected="fail")
    assert reach(_results(surprised), asked).not_as_expected == ("expect.lost: 3, not 5",)
    assert reach(_results(_result("no_loss", "violated")), asked).not_as_expected == ()


def test_what_the_plan_expects_changes_nothing() -> None:
    verdict = reach(_results(HELD), replace(ASKED, expected="fail"))
    assert (verdict.verdict, verdict.expected) == ("pass", "fail")
