"""That discards_asked asks of sessions for logs and Safety Nets, too."""

from __future__ import annotations

import pytest

from spark_eval.next.claims.shadow.discards_asked import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, user

SERVER, PRIMARY = "lyo-mbx1", "par-mbx1"


def _session(
    purpose: str, asks_after_ms: int | None = None, *, messages: str = "3", held: bool = True
) -> Run:
    """Opened while a shadow message is held."""
    run = empty()
    if held:
        message = run.accept(MINUTE, [user(1)])
        message.done_ms = 30 * MINUTE
        run.let_go(message, 40 * MINUTE)
    run.session(SERVER, PRIMARY, 20 * MINUTE, asks_after_ms=asks_after_ms)
    for row in run.contacts[SERVER]:
        said = row["description"].replace("delivery", purpose)
        row["description"] = said.replace("Messages: 3", f"Messages: {messages}")
    return run


def _replication_cut() -> Run:
    """Its question took long, and a fault was in the way of logs alone."""
    run = _session("replication", 3 * MINUTE)
    run.cut(SERVER, PRIMARY, 20 * MINUTE, 22 * MINUTE)
    run.plan["faults"][-1]["links"][0]["service"] = "replication"
    return run


BROKEN = "0 (Retry : connection closed by the peer)"
ASKED = {
    "for-logs": _session("replication", SECOND),
    "for-a-safety-net": _session("safetynet", SECOND, messages="0"),
}
UNASKED = {
    "for-logs-unasked": _session("replication"),
    "for-no-log-unasked": _session("replication", messages="0"),
    "for-a-safety-net-unasked": _session("safetynet", messages="0"),
    "for-mail-unasked": _session("delivery"),
    "asked-late": _session("replication", 3 * MINUTE),
}
NOT_ASKED = {
    "broken": _session("replication", messages=BROKEN),
    "nothing-held": _session("replication", held=False),
    "given-up-unused": _session("delivery", messages="0"),
    "replication-cut": _replication_cut(),
}


def runs() -> dict[str, Run]:
    return {**ASKED, **UNASKED, **NOT_ASKED}


@pytest.fixture(scope="module")
def results(ask_histories: Ask) -> Results:
    return ask_histories(CLAIM)


@pytest.mark.parametrize("name", ASKED)
def test_holds(name: str, results: Results) -> None:
    assert results[name].proofs.get("SM-2") == "holds", results[name].examples


@pytest.mark.parametrize("name", UNASKED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].proofs.get("SM-2") == "violated", results[name]
    assert results[name].examples[0].detail == (
        "lyo-mbx1 used 1 sessions to par-mbx1 without a question, while it held shadow messages "
        "of it"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_of_a_session_that_nobody_used(name: str, results: Results) -> None:
    assert "SM-2" not in results[name].proofs
