from __future__ import annotations

from typing import Any

import pytest

from spark_eval.claims.node.intake_logged import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Message, Run, empty, healthy, user

SERVER, OTHER = "par-mbx1", "par-mbx2"
LOG = f"logs/{SERVER}/MSGTRK2026010508-1.LOG"
BEGAN, SENT = 20 * MINUTE, 30 * MINUTE
# a quarter of a wall second at 60 times its speed: what a kill swallows
UNLOGGED = 15 * SECOND
SWALLOWED_FROM = SENT + UNLOGGED
SAID_NOTHING = "par-mbx1 logged SEND of 1 at 0:30:00.000; its log does not say how it came"


def _accepted(*, received: bool) -> tuple[Run, Message]:
    run = empty()
    message = run.accept(BEGAN, [user(1)])
    if not received:
        run.remove(SERVER, "RECEIVE")
    return run, message


def _went(event: str, *, received: bool, shadowed: bool = True) -> Run:
    run, message = _accepted(received=received)
    if not shadowed:
        run.remove(SERVER, "HAREDIRECT")
    run.log(SERVER, event, "SMTP" if event == "SEND" else "STOREDRIVER", SENT, message)
    return run


def _came(event: str, at_ms: int = BEGAN, server: str = SERVER, **fields: Any) -> Run:
    """It went on at `SENT`, and this is all that is said of how it came."""
    run = _went("SEND", received=False)
    message = Message("<m000001.calm.7@outside.example>", "n-<m000001.calm.7@outside.example>",
                      [user(1)], 0, SERVER, "", 1, run.database_ids[SERVER])  # fmt: skip
    run.log(server, event, "SMTP", at_ms, message, **fields)
    # rows of one moment stand in the order in which they were written
    run.tracking[server].insert(0, run.tracking[server].pop())
    return run


def _promoted() -> Run:
    run = empty()
    run.promote(run.accept(BEGAN, [user(1)]), SENT, "heartbeat", duplicate=True)
    return run


def _of_another_database() -> Run:
    run = _went("SEND", received=True)
    (row,) = run.rows(SERVER, "SEND")
    row["custom"]["DatabaseId"] = "another"
    return run


def _delivered_and_sent(*, received: bool) -> Run:
    run, message = _accepted(received=received)
    run.log(SERVER, "DELIVER", "STOREDRIVER", SENT, message)
    run.log(SERVER, "SEND", "SMTP", SENT + 1, message)
    return run


def _killed(at_ms: int) -> Run:
    run = _went("SEND", received=False)
    run.kill(SERVER, at_ms, at_ms + MINUTE)
    return run


def _without_lives() -> Run:
    run = _went("SEND", received=False)
    run.lifecycle.pop(SERVER)
    return run


def _disk_full(start: int, *, started_ms: int = 0) -> Run:
    run = _went("SEND", received=False)
    run.away("fill_disk", SERVER, start, start + MINUTE)
    if started_ms:
        run.life(SERVER, "started", started_ms, database_id=run.database_ids[SERVER])
    return run


def _torn_log() -> Run:
    run = _went("SEND", received=False)
    run.tail[LOG] = "2026-01-05T0"
    return run


HOLDS = {
    "all-was-well": (healthy(), 5),
    "promoted": (_promoted(), 1),
    "delivered-here": (_went("DELIVER", received=True), 1),
    "twice-here": (_went("DUPLICATEDELIVER", received=True), 1),
    "delivered-and-sent": (_delivered_and_sent(received=True), 2),
    "received-at-that-moment": (_came("RECEIVE", SENT), 1),
    "found-at-the-start": (_came("LOAD"), 1),
    "from-safety-net": (_came("RESUBMIT"), 1),
    "made-here": (_came("DSN"), 1),
    "by-an-event-of-real-servers": (_came("TRANSFER"), 1),
}
VIOLATED = {
    "never-said": (_went("SEND", received=False), SAID_NOTHING),
    "delivered-here": (_went("DELIVER", received=False), "logged DELIVER of 1 at 0:30:00.000; its"),
    "twice-here": (_went("DUPLICATEDELIVER", received=False), "logged DUPLICATEDELIVER of 1 at"),
    "sent-and-nothing-else": (_went("SEND", received=False, shadowed=False), SAID_NOTHING),
    "said-afterwards": (
        _came("RECEIVE", SENT + 1),
        "SEND of 1 at 0:30:00.000; only at 0:30:00.001 its log says how it came (RECEIVE)",
    ),
    "put-off": (_came("DEFER"), SAID_NOTHING),
    "received-elsewhere": (
        _came("RECEIVE", server=OTHER, custom={"DatabaseId": f"{SERVER}-first"}), SAID_NOTHING,
    ),
    "received-under-another-number": (_came("RECEIVE", internal_id=2), SAID_NOTHING),
    "received-in-another-database": (_of_another_database(), SAID_NOTHING),
    "killed-long-after": (_killed(SWALLOWED_FROM + 1), SAID_NOTHING),
    "killed-before": (_killed(SENT - 2 * MINUTE), SAID_NOTHING),
    "disk-full-in-an-earlier-life": (
        _disk_full(SENT - 5 * MINUTE, started_ms=SENT - MINUTE), SAID_NOTHING,
    ),
    "disk-full-afterwards": (_disk_full(SENT + 1), SAID_NOTHING),
}  # fmt: skip
NOT_ASKED = {
    "nothing-sent": empty(),
    "handed-over": _went("DELIVER", received=False, shadowed=False),
    "handed-over-twice": _went("DUPLICATEDELIVER", received=False, shadowed=False),
    "killed": _killed(SENT + SECOND),
    "of-a-server-without-a-lifecycle-log": _without_lives(),
    "disk-full": _disk_full(SENT - 5 * MINUTE),
    "torn-log": _torn_log(),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return asked | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", HOLDS[name][1]), result.examples
    assert result.proofs == {"TL-2": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1), result
    (example, *_) = result.examples
    assert example.subject == "<m000001.calm.7@outside.example> at par-mbx1"
    assert VIOLATED[name][1] in example.detail
    assert {file for file, _ in example.refs} == {LOG}


def test_shows_the_row_that_came_too_late(results: Results) -> None:
    (example, *_) = results["violated-said-afterwards"].examples
    # the header has five lines, and HAREDIRECT comes before
    assert example.refs == ((LOG, 7), (LOG, 8))


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_no_row_is_surely_missing(name: str, results: Results) -> None:
    assert results[name].asked_nothing
