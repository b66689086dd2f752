from __future__ import annotations

import pytest

from spark_eval.claims.mail.dsn_suppressed import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs import failover_runs as f
from tests.spark_eval.runs.run_builder import HOUR, Message, Run

INSIDER = "db2-user01@shadowlab.example"


def _failed(*, suppressed: bool, report: bool) -> Run:
    """What was given back could not be delivered."""
    told = f.before()
    for row in told.run.ledger:
        if row["type"] == "message":
            row["sender"] = INSIDER
    again = f.resubmit(told.run, told.lost, lost=True)
    run = told.run
    for server in ("par-mbx1", f.NEW):
        for event in ("SEND", "DELIVER"):
            run.tracking[server] = [
                row
                for row in run.tracking[server]
                if row["event-id"] != event or row["at_ms"] < again.at_ms
            ]
    run.log("par-mbx1", "FAIL", "QUEUE", HOUR, again, recipient_status=f.EXPIRED)
    if suppressed:
        _suppress(run, again)
    if report:
        f.report(run, "par-mbx1", again)
    return run


def _suppress(run: Run, message: Message) -> None:
    run.log("par-mbx1", "SUPPRESSED", "DSN", HOUR, message, source_context=f.REQUEST,
            recipient_status=f.EXPIRED)  # fmt: skip


def _delivered_and_suppressed() -> Run:
    told = f.before()
    _suppress(told.run, f.resubmit(told.run, told.lost, lost=True))
    return told.run


def _first_copy_failed_before() -> Run:
    """A report about the message as it was accepted is none about what came back."""
    told = f.lossy()
    told.run.log("par-mbx1", "FAIL", "QUEUE", HOUR, told.lost, recipient_status=f.EXPIRED)
    f.report(told.run, "par-mbx1", told.lost)
    return told.run


def runs() -> dict[str, Run]:
    return {
        "quiet": _failed(suppressed=True, report=False),
        "told": _failed(suppressed=False, report=True),
        "silent": _failed(suppressed=False, report=False),
        "delivered": f.lossy().run,
        "for-nothing": _delivered_and_suppressed(),
        "before": _first_copy_failed_before(),
        "nothing": f.before().run,
        "shadow-quiet": f.promoted_shadow_expired(),
        "shadow-told": f.promoted_shadow_expired(None, told=True),
        "shadow-told-and-suppressed": f.promoted_shadow_expired(told=True),
        "shadow-silent": f.promoted_shadow_expired(None),
        "shadow-of-another-request": f.promoted_shadow_expired("DB1:9"),
        "not-promoted": f.promoted_shadow_expired(promoted=False),
        "swallowed": f.with_its_first_row_swallowed(f.promoted_shadow_expired(None)),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_the_failure_of_what_came_back_was_kept_from_its_sender(
    results: Results,
) -> None:
    told = results["quiet"]
    assert (told.status, told.asked, told.proofs) == ("holds", 1, {"SN-10": "holds"})


def test_a_dsn_about_what_came_back_is_violated(results: Results) -> None:
    told = results["told"]
    assert (told.status, told.violations) == ("violated", 1)
    assert "told its sender by 1 DSNs" in told.examples[0].detail
    assert len(told.examples[0].refs) == 3


def test_a_failure_of_which_nothing_says_that_it_was_suppressed_is_violated(
    results: Results,
) -> None:
    assert results["silent"].status == "violated"
    assert results["for-nothing"].status == "violated"


def test_a_promoted_shadow_of_what_came_back_is_resubmitted_mail_as_well(
    results: Results,
) -> None:
    told = results["shadow-quiet"]
    assert (told.status, told.asked, told.proofs) == ("holds", 2, {"SN-10": "holds"})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("shadow-told", "lyo-mbx2 told its sender by 1 DSNs"),
        ("shadow-told-and-suppressed", "lyo-mbx2 told its sender by 1 DSNs"),
        ("shadow-silent", "failed at lyo-mbx2; no row says that its DSN was suppressed"),
        (
            "shadow-of-another-request",
            "for DB1:1, and lyo-mbx2 says that its DSN was suppressed for DB1:9",
        ),
    ],
)
def test_what_became_of_a_promoted_shadow_is_violated(
    results: Results, name: str, says: str
) -> None:
    told = results[name]
    assert (told.status, told.violations) == ("violated", 1)
    assert says in told.examples[0].detail


def test_asks_nothing_of_what_may_have_been_accepted(results: Results) -> None:
    assert (results["not-promoted"].status, results["not-promoted"].proofs) == ("holds", {})
    assert results["swallowed"].asked == 0


def test_what_was_delivered_holds_and_proves_nothing(results: Results) -> None:
    assert (results["delivered"].status, results["delivered"].proofs) == ("holds", {})


def test_a_dsn_about_the_message_as_it_was_accepted_is_none(
    results: Results,
) -> None:
    assert results["before"].status == "holds"


def test_unknown_where_nothing_came_back(results: Results) -> None:
    assert (results["nothing"].status, results["nothing"].asked) == ("unknown", 0)
