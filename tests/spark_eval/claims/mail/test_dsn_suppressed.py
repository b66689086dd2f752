from __future__ import annotations

import pytest

from spark_eval.claims.mail.dsn_suppressed import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs import failover_runs as f
from tests.spark_eval.runs.run_builder import HOUR, Message, Run

INSIDER = "db2-user01@shadowlab.example"
EXPIRED = "550 4.4.7 QUEUE.Expired"


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
    run.log("par-mbx1", "FAIL", "QUEUE", HOUR, again, recipient_status=EXPIRED)
    if suppressed:
        _suppress(run, again)
    if report:
        _report(run, again)
    return run


def _suppress(run: Run, message: Message) -> None:
    run.log("par-mbx1", "SUPPRESSED", "DSN", HOUR, message, source_context=f.REQUEST,
            recipient_status=EXPIRED)  # fmt: skip


def _report(run: Run, message: Message) -> None:
    about = message.message_id
    row = run.log("par-mbx1", "DSN", "DSN", HOUR, message, internal_id=9000, reference=about)
    row["message-id"] = "<dsn.1@par-mbx1.shadowlab.example>"


def _delivered_and_suppressed() -> Run:
    told = f.before()
    _suppress(told.run, f.resubmit(told.run, told.lost, lost=True))
    return told.run


def _first_copy_failed_before() -> Run:
    """A report about the message as it was accepted is none about what came back."""
    told = f.lossy()
    told.run.log("par-mbx1", "FAIL", "QUEUE", HOUR, told.lost, recipient_status=EXPIRED)
    _report(told.run, told.lost)
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


def test_what_was_delivered_holds_and_proves_nothing(results: Results) -> None:
    assert (results["delivered"].status, results["delivered"].proofs) == ("holds", {})


def test_a_dsn_about_the_message_as_it_was_accepted_is_none(
    results: Results,
) -> None:
    assert results["before"].status == "holds"


def test_unknown_where_nothing_came_back(results: Results) -> None:
    assert (results["nothing"].status, results["nothing"].asked) == ("unknown", 0)
