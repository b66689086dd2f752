from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from spark_eval.claims.mail.logged_once import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, healthy, mono, user

# of each message RECEIVE, HAREDIRECT, SEND, DELIVER, HARECEIVE and HADISCARD; of what goes outside
# no DELIVER
KINDS = 4 * 6 + 5


def _of_the_lab(run: Run) -> Run:
    run.plan["messages"] = [{"message_id": run.ledger[0]["message_id"]}]
    return run


def _twice(server: str, event: str, later_ms: int = 0, **changed: Any) -> Run:
    """The first such row of a server stands there once more, as said so much later."""
    run = _of_the_lab(healthy())
    row = run.rows(server, event)[0]
    again = deepcopy(row)
    again.update({name.replace("_", "-"): value for name, value in changed.items()})
    again["at_ms"] = row["at_ms"] + later_ms
    again["custom"]["Mono"] = mono(again["at_ms"])
    run.tracking[server].append(again)
    return run


def _twice_for_nobody() -> Run:
    run = _of_the_lab(healthy())
    row = run.rows("lyo-mbx1", "HARECEIVE")[0]
    row.update({"recipient-address": "", "recipient-count": 0})
    run.tracking["lyo-mbx1"].append(deepcopy(row))
    return run


def _restarted_in_between() -> Run:
    run = _twice("par-mbx2", "DELIVER", 3 * MINUTE)
    run.life("par-mbx2", "started", 2 * MINUTE, database_id=run.database_ids["par-mbx2"])
    return run


def _put_off_twice() -> Run:
    run = _of_the_lab(healthy())
    message = run.accept(20 * MINUTE, [user(1)])
    for minute in (21, 22):
        run.log("par-mbx1", "DEFER", "QUEUE", minute * MINUTE, message)
    return run


def _each_for_one_of_two() -> Run:
    run = _twice("par-mbx2", "DELIVER", recipient_address=user(2), recipient_count=1)
    run.rows("par-mbx2", "DELIVER")[0].update({"recipient-address": user(1), "recipient-count": 1})
    return run


HOLDS = {
    "as-it-is": _of_the_lab(healthy()),
    "restarted": _restarted_in_between(),
    "put-off": _put_off_twice(),
    "one-by-one": _each_for_one_of_two(),
    "of-another-message": _twice("par-mbx2", "DELIVER", internal_message_id=4711),
}
VIOLATED = {
    "received": ("par-mbx1", "RECEIVE", _twice("par-mbx1", "RECEIVE")),
    "delivered": ("par-mbx2", "DELIVER", _twice("par-mbx2", "DELIVER")),
    "delivered-later": ("par-mbx2", "DELIVER", _twice("par-mbx2", "DELIVER", 3 * MINUTE)),
    "let-go": ("lyo-mbx1", "HADISCARD", _twice("lyo-mbx1", "HADISCARD", SECOND)),
    "to-one-again": (
        "par-mbx2", "DELIVER",
        _twice("par-mbx2", "DELIVER", recipient_address=user(2), recipient_count=1),
    ),
    "to-nobody": ("lyo-mbx1", "HARECEIVE", _twice_for_nobody()),
}  # fmt: skip


def runs() -> dict[str, Run]:
    violated = {f"violated-{name}": run for name, (_, _, run) in VIOLATED.items()}
    return HOLDS | violated | {"of-real-servers": healthy()}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_asks_each_kind_of_row_of_a_message(results: Results) -> None:
    result = results["as-it-is"]
    assert (result.status, result.asked, result.proofs) == ("holds", KINDS, {"TL-1": "holds"})


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    server, event, _ = VIOLATED[name]
    result = results[f"violated-{name}"]
    assert (result.violations, result.proofs) == (1, {"TL-1": "violated"}), result.examples
    assert result.examples[0].detail.startswith(f"{server} has 2 {event} rows from ")
    assert len(result.examples[0].refs) == 2


def test_asks_nothing_of_records_that_the_lab_did_not_make(results: Results) -> None:
    assert results["of-real-servers"].asked_nothing
