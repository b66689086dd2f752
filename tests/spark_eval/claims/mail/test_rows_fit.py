from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spark_eval.claims.mail.rows_fit import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    HOUR,
    MINUTE,
    SECOND,
    Row,
    Run,
    apart,
    empty,
    healthy,
    user,
)

TO = f"{user(1)};{user(2)}"
INSIDE, OUTSIDE = f"par-mbx2.{DOMAIN}", "ext1.partner.example"
# four messages to mailboxes have six rows, one that goes outside has five
ROWS = 4 * 6 + 5


def _of_the_lab(run: Run) -> Run:
    """Its plan names what it sends, and each SEND names who took it."""
    run.plan["messages"] = [{"message_id": run.ledger[0]["message_id"]}]
    for server in ("par-mbx1", "lyo-mbx1"):
        for row in run.rows(server, "SEND"):
            is_inside = DOMAIN in row["recipient-address"]
            row["server-hostname"] = INSIDE if is_inside else OUTSIDE
    return run


def _first(server: str, event: str, **changed: Any) -> Run:
    """The first such row of a server says something else."""
    run = _of_the_lab(healthy())
    _change(run.rows(server, event)[0], changed)
    return run


def _last_sent(**changed: Any) -> Run:
    """That to the server outside."""
    run = _of_the_lab(healthy())
    _change(run.rows("par-mbx1", "SEND")[-1], changed)
    return run


def _change(row: Row, changed: dict[str, Any]) -> None:
    row.update({name.replace("_", "-"): value for name, value in changed.items()})


def _short(server: str, event: str) -> Run:
    return _first(server, event, recipient_address=user(1), recipient_count=1)


def _short_everywhere() -> Run:
    """Whoever knew it says the same."""
    run = _of_the_lab(healthy())
    rows = ("par-mbx1", "RECEIVE"), ("par-mbx1", "HAREDIRECT")
    for server, event in (*rows, ("lyo-mbx1", "HARECEIVE"), ("lyo-mbx1", "HADISCARD")):
        _change(run.rows(server, event)[0], {"recipient_address": user(1), "recipient_count": 1})
    return run


def _crossing(recipients: list[str]) -> Run:
    """Another boundary takes it for some of its recipients, and the workload did not call there."""
    run = empty()
    apart(run)
    first = run.accept(MINUTE, [user(1, "db2"), user(2)], shadow="par-mbx2")
    run.cross(first, MINUTE + SECOND)
    shadow = *run.rows("lyo-mbx2", "HAREDIRECT"), *run.rows("lyo-mbx1", "HARECEIVE")
    for row in (*run.rows("lyo-mbx2", "RECEIVE"), *shadow):
        row.update({"recipient-address": ";".join(recipients), "recipient-count": len(recipients)})
    sent = run.rows("par-mbx1", "SEND")[0]
    sent.update({"recipient-address": user(1, "db2"), "recipient-count": 1})
    run.plan["messages"] = [{"message_id": first.message_id}]
    return run


def _untaken(run: Run | None = None) -> Run:
    """Two minutes after the peer of the first SEND took it, its log does not say so."""
    run = _of_the_lab(run or healthy())
    run.tracking["par-mbx2"] = run.rows("par-mbx2", "DELIVER")[1:]
    return run


def _killed(at_ms: int) -> Run:
    run = _untaken()
    run.kill("par-mbx2", at_ms, at_ms + SECOND)
    return run


def _torn() -> Run:
    run = _untaken()
    run.tracking["par-mbx2"] = healthy().rows("par-mbx2", "DELIVER")
    run.tracking["par-mbx2"][0]["torn"] = True
    return run


def _promoted(recipients: list[str]) -> Run:
    run = healthy()
    message = run.accept(9 * MINUTE, [user(3), user(4)])
    run.promote(replace(message, recipients=recipients), 40 * MINUTE, "heartbeat")
    return _of_the_lab(run)


def _of_a_dsn() -> Run:
    """What the workload did not send may be anybody's."""
    run = _of_the_lab(healthy())
    for server in ("par-mbx1", "lyo-mbx1", "par-mbx2"):
        for row in run.tracking[server]:
            row.update({"message-id": "<dsn@par-mbx1>", "return-path": "<>"})
    return run


def _smaller_than_its_header() -> Run:
    """Planned with fewer bytes than its header alone has, so that it was sent with more."""
    run = _of_the_lab(healthy())
    run.ledger[0]["size_bytes"] = 256
    return run


SENT_MS = MINUTE + 2 * SECOND
HOLDS = {
    "as-it-is": _of_the_lab(healthy()),
    "in-capitals": _first("par-mbx1", "RECEIVE", return_path="SENDER01@Outside.example"),
    "old-version": _first(
        "par-mbx1", "RECEIVE", return_path="", total_bytes="", recipient_count=""
    ),
    "crossing": _crossing([user(1, "db2")]),
    "promoted": _promoted([user(3), user(4)]),
    "smaller-than-its-header": _smaller_than_its_header(),
}  # fmt: skip
VIOLATED = {
    "of-another": (
        _first("par-mbx1", "RECEIVE", return_path="sender02@outside.example"),
        "its RECEIVE row at par-mbx1 says that <sender02@outside.example> sent it; "
        "<sender01@outside.example> did",
    ),
    "of-nobody": (
        _first("par-mbx2", "DELIVER", return_path="<>"),
        "its DELIVER row at par-mbx2 says that <> sent it; <sender01@outside.example> did",
    ),
    "of-another-size": (
        _first("lyo-mbx1", "HARECEIVE", total_bytes=1),
        "its HARECEIVE row at lyo-mbx1 says that it has 1 bytes; it was sent with 4096",
    ),
    "miscounted": (
        _first("par-mbx1", "RECEIVE", recipient_count=1),
        "its RECEIVE row at par-mbx1 counts 1 recipients, and names 2",
    ),
    "to-another": (
        _first("par-mbx2", "DELIVER", recipient_address=f"{TO};{user(9)}", recipient_count=3),
        f"its DELIVER row at par-mbx2 names {user(9)}, to whom it was not sent",
    ),
    "received-for-one": (
        _short_everywhere(),
        f"its RECEIVE row at par-mbx1 does not name {user(2)}, to whom it was sent",
    ),
    "held-for-one": (
        _short("lyo-mbx1", "HARECEIVE"),
        "its HARECEIVE row at lyo-mbx1 names 1 recipients; for others, 2, its primary server "
        "answers",
    ),
    "let-go-for-one": (
        _short("lyo-mbx1", "HADISCARD"),
        "its HADISCARD row at lyo-mbx1 names 1 recipients; for others, 2, its primary server "
        "answers",
    ),
    "shadowed-for-one": (
        _short("par-mbx1", "HAREDIRECT"),
        "its HAREDIRECT row at par-mbx1 names 1 recipients; for others, 2, its primary server "
        "answers",
    ),
    "promoted-for-one": (
        _promoted([user(3)]),
        "its RESUBMIT row at lyo-mbx1 names 1 recipients; for others, 2, its primary server "
        "answers",
    ),
    "shadowed-elsewhere": (
        _first("par-mbx1", "HAREDIRECT", source_context=f"lyo-mbx2.{DOMAIN} = 250 2.6.0 Queued"),
        "its HAREDIRECT row at par-mbx1 has a reply of lyo-mbx2, and names lyo-mbx1 as shadow "
        "server",
    ),
    "delivered-by-another": (
        _first("par-mbx2", "DELIVER", server_hostname=f"lyo-mbx2.{DOMAIN}"),
        "its DELIVER row at par-mbx2 names lyo-mbx2 as the server that did it",
    ),
    "received-by-another": (
        _first("par-mbx1", "RECEIVE", server_hostname=OUTSIDE),
        "its RECEIVE row at par-mbx1 names ext1 as the server that did it",
    ),
    "sent-outside": (
        _first("par-mbx1", "SEND", server_hostname=OUTSIDE),
        "its SEND row at par-mbx1 names ext1, which is not the server of each recipient's domain",
    ),
    "sent-inside": (
        _last_sent(server_hostname=INSIDE),
        "its SEND row at par-mbx1 names par-mbx2, whose log does not say that it took it for "
        "someone@partner.example",
    ),
    "sent-to-another": (
        _first("par-mbx1", "SEND", server_hostname=f"lyo-mbx2.{DOMAIN}"),
        "its SEND row at par-mbx1 names lyo-mbx2, whose log does not say that it took it for "
        f"{user(1)}",
    ),
    "sent-to-itself": (
        _first("par-mbx1", "SEND", server_hostname=f"par-mbx1.{DOMAIN}"),
        "its SEND row at par-mbx1 names this server itself as the one that it was sent to",
    ),
    "untaken": (
        _untaken(),
        "its SEND row at par-mbx1 names par-mbx2, whose log does not say that it took it for "
        f"{user(1)}",
    ),
    "killed-long-before": (
        _killed(SENT_MS + HOUR),
        "its SEND row at par-mbx1 names par-mbx2, whose log does not say that it took it for "
        f"{user(1)}",
    ),
}
NOT_ASKED = {
    "killed": (_killed(SENT_MS), 1),
    "torn": (_torn(), 1),
}


def runs() -> dict[str, Run]:
    asked = {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    asked |= {f"not-asked-{name}": run for name, (run, _) in NOT_ASKED.items()}
    return HOLDS | asked | {"of-real-servers": healthy(), "of-a-dsn": _of_a_dsn()}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_asks_every_row(results: Results) -> None:
    result = results["as-it-is"]
    assert (result.status, result.asked, result.proofs) == ("holds", ROWS, {"TL-1": "holds"})


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.violations, result.proofs) == (1, {"TL-1": "violated"}), result.examples
    assert result.examples[0].detail == VIOLATED[name][1]


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_no_peer_near_a_hole_of_its_log(name: str, results: Results) -> None:
    assert results[f"not-asked-{name}"].violations == 0


@pytest.mark.parametrize("name", ["of-real-servers", "of-a-dsn"])
def test_asks_nothing_of_other_records_and_messages(name: str, results: Results) -> None:
    assert results[name].asked_nothing
