from __future__ import annotations

import pytest

from spark_eval.claims.node.duplicates_logged import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import with_two_copies
from tests.spark_eval.runs.run_builder import MINUTE, Run, empty, healthy, made, user

SERVER = "par-mbx2"


def _stored(*events: str, copies: int = 1, run: Run | None = None) -> Run:
    """One recipient, so many rows of a minute each, and so many copies in the mailbox."""
    run = run or empty()
    message = run.accept(MINUTE, [user(1)])
    for _ in range(copies):
        run.show(message, 2 * MINUTE)
    run.remove(SERVER, "DELIVER")
    for minute, event in enumerate(events, start=2):
        run.log(SERVER, event, "STOREDRIVER", minute * MINUTE, message,
                internal_id=5000 + minute, source_context="MDB:DB1")  # fmt: skip
    return run


def _killed(*events: str) -> Run:
    run = _stored(*events)
    run.kill(SERVER, 2 * MINUTE - 300, 2 * MINUTE - 200)
    return run


def _not_collected() -> Run:
    run = _stored("DUPLICATEDELIVER")
    run.drop.add("mailboxes/DB1.jsonl")
    return run


def _late(minutes: int, *, wrong_clock: bool = False) -> Run:
    """Turfed a minute after it was stored, under a window of so many."""
    run = _stored("DELIVER", "DUPLICATEDELIVER")
    run.plan["topology"]["databases"][0]["duplicate_detection_window_ms"] = minutes * MINUTE // 2
    if wrong_clock:
        run.away("skew_clock", SERVER, MINUTE, 4 * MINUTE)
    return run


HOLDS = {
    "turfed-within-the-window": _late(4),
    "turfed-late-by-a-wrong-clock": _late(1, wrong_clock=True),
    "once": _stored("DELIVER"),
    "turfed": _stored("DELIVER", "DUPLICATEDELIVER", "DUPLICATEDELIVER"),
    "seen-twice": _stored("DELIVER", "DELIVER", copies=2),
    "the-row-may-be-missing": _killed("DUPLICATEDELIVER"),
    "all-was-well": healthy(),
    "several-copies": _stored("DELIVER", "DUPLICATEDELIVER", run=with_two_copies()),
}
VIOLATED = {
    "turfed-after-the-window": _late(1),
    "turfed-and-said-to-be-stored": _stored("DELIVER", "DELIVER"),
    "stored-and-said-to-be-turfed": _stored("DUPLICATEDELIVER"),
    "turfed-and-nothing-there": _stored("DUPLICATEDELIVER", copies=0),
    "said-to-be-stored-and-nothing-there": _stored("DELIVER", copies=0),
    "twice-in-one-of-several-copies": _stored("DELIVER", "DELIVER", run=with_two_copies()),
    "turfed-first-in-one-of-several": _stored("DUPLICATEDELIVER", run=with_two_copies()),
}
NOT_ASKED = {"nothing": empty(), "not-collected": _not_collected()}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **VIOLATED, **NOT_ASKED})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs["DD-1"] == "holds"


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result.examples


def test_says_how_many_of_each_there_are(results: Results) -> None:
    (example,) = results["turfed-and-said-to-be-stored"].examples
    assert example.detail == "par-mbx2 logged DELIVER 2 times, and DB1 has 1 copies"


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_nothing_was_stored_or_seen(name: str, results: Results) -> None:
    assert results[name].asked_nothing
