from __future__ import annotations

import pytest

from spark_eval.claims.mail.drains_after_heal import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import back_in_time
from tests.spark_eval.runs.run_builder import MINUTE, Run, empty, healthy, user


def _waiting(*, healed: bool = True, queue: str = "delivery") -> Run:
    run = back_in_time().run
    message = run.accept(40 * MINUTE, [user(1)])
    message.done_ms = 0
    run._own("par-mbx1", queue, message, message.internal_id, delivered_ms=None, state="retry")
    if not healed:
        run.faults = [row for row in run.faults if row["phase"] != "healed"]
    return run


def _one_of_two_waits() -> Run:
    """Two messages of one server under one network message id."""
    run = _waiting()
    [queued] = [row for row in run.queues["par-mbx1"] if row["queue"] == "delivery"]
    [row] = (
        row for row in run.rows("par-mbx1", "RECEIVE") if row["message-id"] == queued["message_id"]
    )
    run.tracking["par-mbx1"].append({**row, "internal-message-id": run.next_id()})
    return run


def _gone(*, waits: bool) -> Run:
    """A server is gone for good, with a message; of another one a message waits, or not."""
    run = back_in_time().run
    run.plan["faults"], run.faults = [], []
    message = run.accept(40 * MINUTE, [user(1)])
    message.done_ms = 0
    if waits:
        run._own("par-mbx2", "delivery", message, message.internal_id, delivered_ms=None)
    run.lose("par-mbx1", 50 * MINUTE)
    return run


def _torn_listing() -> Run:
    run = healthy()
    run.tail["logs/par-mbx1/queues.jsonl"] = '{"queue": "deliv'
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": healthy(),
        "empty": empty(),
        "healed": back_in_time().run,
        "waiting": _waiting(),
        "one-of-two-waits": _one_of_two_waits(),
        "poison": _waiting(queue="poison"),
        "never-healed": _waiting(healed=False),
        "torn-listing": _torn_listing(),
        "gone": _gone(waits=False),
        "gone-and-another-waits": _gone(waits=True),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_no_delivery_queue_holds_anything(results: Results) -> None:
    assert (results["healthy"].status, results["healthy"].asked) == ("holds", 5)
    assert results["healed"].status == "holds"


def test_asks_nothing_of_what_a_server_had_that_is_gone_for_good(results: Results) -> None:
    assert results["gone"].asked_nothing


def test_what_waits_elsewhere_is_not_excused_by_a_server_that_is_gone(results: Results) -> None:
    assert results["gone-and-another-waits"].violations == 1


def test_is_violated_by_a_message_still_queued(results: Results) -> None:
    result = results["waiting"]
    assert (result.status, result.violations) == ("violated", 1)
    assert "in a delivery queue of par-mbx1 since 0:40:00.000" in result.examples[0].detail
    assert result.examples[0].refs[0][0] == "logs/par-mbx1/queues.jsonl"


def test_counts_each_message_of_a_network_message_id_by_itself(results: Results) -> None:
    both = results["one-of-two-waits"]
    assert (both.violations, both.asked) == (1, results["waiting"].asked + 1)


def test_is_violated_by_a_poison_message(results: Results) -> None:
    assert results["poison"].violations == 1
    assert "in a poison queue of par-mbx1" in results["poison"].examples[0].detail


def test_is_unknown_where_a_fault_never_healed(results: Results) -> None:
    assert results["never-healed"].status == "unknown"
    assert "never healed: f1" in results["never-healed"].reason


def test_is_unknown_where_the_listing_is_torn(results: Results) -> None:
    assert (results["torn-listing"].status, results["torn-listing"].violations) == ("unknown", 0)


def test_is_unknown_where_nothing_was_accepted(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)
