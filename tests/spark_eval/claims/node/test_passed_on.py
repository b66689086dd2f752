from __future__ import annotations

import pytest

from spark_eval.claims.node.passed_on import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.front_end_runs import (
    BEGAN,
    FRONT_END,
    NO_SERVER,
    SERVER_LOST,
    accepted,
    before_paris,
    refused,
)
from tests.spark_eval.runs.run_builder import MINUTE, Run, healthy, made

ITSELF = "250 2.6.0 Queued mail for delivery"


def _says(reply: str) -> Run:
    run = accepted()
    run.ledger[-1]["reply"] = reply
    return run


def _received_late() -> Run:
    run = accepted()
    (row,) = (each for each in run.tracking["par-mbx1"] if each["event-id"] == "RECEIVE")
    row["at_ms"] += 250
    row["custom"]["Mono"] += 250_000_000 // 60
    return run


def _not_received(*, killed: bool = False) -> Run:
    run = accepted()
    rows = run.tracking["par-mbx1"]
    run.tracking["par-mbx1"] = [row for row in rows if row["event-id"] != "RECEIVE"]
    if killed:
        run.kill("par-mbx1", BEGAN + 1_000, BEGAN + MINUTE)
    return run


HOLDS = {
    "passed": (accepted(), 2),
    "none-answers": (refused(NO_SERVER, "par-mbx1", "par-mbx2"), 1),
    "answer-lost": (refused(SERVER_LOST, "par-mbx2"), 1),
}
VIOLATED = {
    "by-itself": (_says(ITSELF), "par-fe1 answered 250 2.6.0 Queued mail for delivery, which no"),
    "of-another-site": (accepted("lyo-mbx1"), "which no mailbox server of its site has said"),
    "received-late": (_received_late(), "par-mbx1 had not received it before, by its log"),
    "not-received": (_not_received(), "par-mbx1 had not received it before"),
    "not-logged": (accepted(passed_ms=None), "par-fe1 had not passed that on before"),
    "logged-late": (accepted(passed_ms=901), "par-fe1 had not passed that on before"),
    "another-answers": (refused(NO_SERVER, "par-mbx1"), "no fault was in the way of each mailbox"),
    "lost-for-nothing": (refused(SERVER_LOST), "no fault was in the way of any of them"),
}
NOT_ASKED = {
    "no-front-end": healthy(),
    "no-mail": before_paris(),
    "refused-in-other-words": refused("550 5.1.10 RESOLVER.ADR.RecipientNotFound"),
}


def runs() -> dict[str, Run]:
    unknown = {"killed": _not_received(killed=True)}
    known = {name: run for name, (run, _) in (*HOLDS.items(), *VIOLATED.items())}
    return made({**known, **unknown, **NOT_ASKED})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_what_a_front_end_passes_on_holds(name: str, results: Results) -> None:
    assert (results[name].status, results[name].asked) == ("holds", HOLDS[name][1])


@pytest.mark.parametrize("name", VIOLATED)
def test_what_it_says_of_itself_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated"
    assert any(VIOLATED[name][1] in each.detail for each in results[name].examples)


def test_what_a_kill_may_have_swallowed_is_unknown(results: Results) -> None:
    assert results["killed"].status == "unknown"


@pytest.mark.parametrize("name", NOT_ASKED)
def test_nothing_is_asked_of_others(name: str, results: Results) -> None:
    assert results[name].asked == 0


def test_a_session_is_to_a_server_of_its_site(results: Results) -> None:
    said = [each.detail for each in results["of-another-site"].examples]
    assert f"{FRONT_END} called lyo-mbx1, which is not of its site" in said
