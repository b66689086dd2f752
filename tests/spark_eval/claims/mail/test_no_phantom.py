from __future__ import annotations

import pytest

from spark_eval.claims.mail.no_phantom import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, Row, Run, empty, healthy, mono, user


def _copy(message_id: str, mailbox: str) -> Row:
    return {"mailbox": mailbox, "message_id": message_id, "submitted_ms": MINUTE,
            "delivered_ms": 3 * MINUTE, "size_bytes": 1, "server": "par-mbx2"}  # fmt: skip


def _sent_by_no_one() -> Run:
    run = healthy()
    run.mailboxes["DB1"].append(_copy("<stranger@nowhere.example>", user(1)))
    return run


def _sent_to_another() -> Run:
    run = healthy()
    run.mailboxes["DB1"].append(_copy("<m000001.calm.7@outside.example>", user(5)))
    return run


def _with_probe() -> Run:
    run = healthy()
    run.mailboxes["DB1"].append(_copy("<probe.1@workload>", user(1)))
    return run


def _dsn_to(recipient: str) -> Run:
    run = healthy()
    message = run.accept(20 * MINUTE, [user(1)])
    message.message_id, about = "<dsn.1@par-mbx1.shadowlab.example>", message.message_id
    run.log("par-mbx1", "DSN", "DSN", 21 * MINUTE, message, reference=about)
    run.external["ext1"].append(
        {"message_id": message.message_id, "recipients": [recipient], "received_ms": 21 * MINUTE,
         "mono_ns": mono(21 * MINUTE), "size_bytes": 1, "peer": "par-mbx1"}
    )  # fmt: skip
    return run


def _torn_ledger() -> Run:
    run = _sent_by_no_one()
    run.tail["ledger.jsonl"] = '{"type": "message", "message_id": "<stranger@now'
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": healthy(),
        "empty": empty(),
        "no-one": _sent_by_no_one(),
        "another": _sent_to_another(),
        "probe": _with_probe(),
        "dsn": _dsn_to("sender01@outside.example"),
        "stray-dsn": _dsn_to("someone@partner.example"),
        "torn": _torn_ledger(),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_every_copy_was_sent_to_its_reader(results: Results) -> None:
    assert (results["healthy"].status, results["healthy"].asked) == ("holds", 9)


def test_is_violated_by_a_copy_that_no_one_sent(results: Results) -> None:
    result = results["no-one"]
    assert (result.status, result.violations) == ("violated", 1)
    assert result.examples[0].detail == "seen in DB1, sent by no one"
    assert result.examples[0].refs == (("mailboxes/DB1.jsonl", 9),)


def test_is_violated_by_a_copy_in_another_mailbox(results: Results) -> None:
    assert results["another"].examples[0].detail == "seen in DB1, not sent to this recipient"


def test_takes_no_notice_of_probes(results: Results) -> None:
    assert (results["probe"].status, results["probe"].asked) == ("holds", 9)


def test_lets_a_dsn_reach_the_sender_it_is_for_and_no_one_else(
    results: Results,
) -> None:
    assert results["dsn"].status == "holds"
    assert results["stray-dsn"].violations == 1


def test_is_unknown_where_nothing_was_delivered(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)


def test_is_unknown_where_the_ledger_is_torn(results: Results) -> None:
    assert (results["torn"].status, results["torn"].violations) == ("unknown", 0)
