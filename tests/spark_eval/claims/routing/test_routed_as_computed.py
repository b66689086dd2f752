from __future__ import annotations

from typing import Any

import pytest

from spark_eval.claims.routing.routed_as_computed import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, Run, empty, made, user

SERVER, BETWEEN, PEER = "par-mbx1", "par-mbx2", "lyo-mbx1"
NEAR, FAR, OUTSIDE = user(1), user(1, "db2"), "someone@partner.example"
AT = 60 * MINUTE
LINKS = [
    {"between": ["paris", "metz"], "cost": 10},
    {"between": ["metz", "lyon"], "cost": 10, "max_message_size_bytes": 100_000},
]
CONNECTOR = {"name": "out", "to": "ext1", "sources": [BETWEEN], "cost": 1}
TOO_LARGE = "550 5.3.4 ROUTING.SizeLimit"


def spread(*, hub: bool = False, connector: bool = False) -> Run:
    """One server in Paris, one in Metz, which lies on the way to the two in Lyon, a DAG."""
    run = empty()
    topology: dict[str, Any] = run.plan["topology"]
    for server in topology["servers"]:
        if server["name"] in (SERVER, BETWEEN):
            server["dag"] = None
        if server["name"] == BETWEEN:
            server["site"] = "metz"
    topology["sites"].append({"name": "metz", "outside": False, "hub": hub})
    topology["site_links"] = LINKS
    topology["send_connectors"] = [CONNECTOR] if connector else []
    return run


def step(
    run: Run, event: str, *to: str, fork: str = "dag:DAG1", peer: str = PEER, size: int = 1000,
    also: tuple[str, ...] = (), **more: Any,
) -> Run:  # fmt: skip
    message = run.accept(MINUTE, [*to, *also])
    run.log(
        SERVER, event, "QUEUE" if event in ("DEFER", "FAIL") else "SMTP", AT, message,
        recipients=list(to), custom={"Fork": fork} if fork else {}, total_bytes=size,
        server_hostname=f"{peer}.shadowlab.example", **more,
    )  # fmt: skip
    return run


def unreached(run: Run) -> Run:
    """A session is given up, so the message is put off."""
    rows = [(AT - 100, "+", "delivery"), (AT, "-", "Messages: 0 (Retry : refused)")]
    for at_ms, direction, text in rows:
        run.contacts.setdefault(SERVER, []).append(
            {"at_ms": at_ms, "session": "out-1", "source": "SMTP", "destination": PEER,
             "direction": direction, "description": text}
        )  # fmt: skip
    return step(run, "DEFER", FAR, source_context="refused")


def closed(*peers: str) -> Run:
    run = spread()
    for peer in peers:
        run.cut(SERVER, peer, AT - MINUTE, AT + MINUTE)
    return run


LYON = (PEER, "lyo-mbx2")
HOLDS = {
    "direct": (step(spread(), "SEND", FAR), {"TP-2", "RT-1", "RT-2", "RT-3"}),
    "to-the-hub": (
        step(spread(hub=True), "SEND", FAR, fork="hub:metz", peer=BETWEEN),
        {"TP-2", "RT-1", "RT-2", "RT-3", "RT-4"},
    ),
    "to-the-source-of-a-connector": (
        step(spread(connector=True), "SEND", OUTSIDE, fork="connector:out", peer=BETWEEN),
        {"RT-3"},
    ),
    "backed-off": (
        step(closed(*LYON), "SEND", FAR, peer=BETWEEN), {"TP-2", "RT-1", "RT-2", "RT-3", "RT-5"},
    ),
    "put-off-while-all-is-closed": (
        unreached(closed(*LYON, BETWEEN)), {"TP-2", "RT-1", "RT-2", "RT-3", "RT-5"},
    ),
    "too-large": (
        step(spread(), "FAIL", FAR, fork="", size=100_001, recipient_status=TOO_LARGE),
        {"TP-2", "RT-1"},
    ),
}  # fmt: skip
VIOLATED = {
    "past-the-hub": (step(spread(hub=True), "SEND", FAR), "its way is hub:metz"),
    "out-by-itself": (
        step(spread(connector=True), "SEND", OUTSIDE, fork="external:ext1", peer="ext1"),
        "its way is connector:out",
    ),
    "to-the-hub-without-one": (
        step(spread(hub=True, connector=True), "SEND", FAR, fork="hub:metz", peer=BETWEEN,
             also=(user(2, "db2"),)),
        f"without {user(2, 'db2')}",
    ),
    "elsewhere": (
        step(spread(), "SEND", NEAR, fork="site:metz"), "which is on no way to site:metz",
    ),
    "backed-off-for-nothing": (
        step(closed(PEER), "SEND", FAR, peer=BETWEEN), "nothing was in the way to lyo-mbx2",
    ),
    "put-off-though-one-is-open": (
        unreached(closed(*LYON)), f"nothing was in the way to {BETWEEN}",
    ),
    "sent-though-too-large": (
        step(spread(), "SEND", FAR, size=100_001), "100001 bytes pass no way",
    ),
    "given-up-though-it-passes": (
        step(spread(), "FAIL", FAR, fork="", size=100_000, recipient_status=TOO_LARGE),
        "gave it up as too large for its way, which is dag:DAG1",
    ),
}  # fmt: skip
NOTHING = {
    "nothing-sent": empty(),
    "put-off-by-who-was-reached": step(spread(), "DEFER", FAR, source_context="451 4.3.2 Not now"),
    "given-up-otherwise": step(spread(), "FAIL", FAR, fork="", recipient_status="550 5.1.1 Nobody"),
}

INSIDE = step(empty(), "SEND", NEAR, fork="database:DB1", peer=BETWEEN)


def runs() -> dict[str, Run]:
    wrong = {name: run for name, (run, _) in VIOLATED.items()}
    well = {name: run for name, (run, _) in HOLDS.items()}
    return made({**well, **wrong, **NOTHING, "inside": INSIDE})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[name]
    assert result.status == "holds", result.examples
    assert {each for each, said in result.proofs.items() if said == "holds"} == HOLDS[name][1]


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result.examples
    assert VIOLATED[name][1] in result.examples[0].detail


@pytest.mark.parametrize("name", NOTHING)
def test_asks_nothing(name: str, results: Results) -> None:
    assert results[name].asked_nothing


def test_within_a_boundary_there_is_nothing_to_choose(results: Results) -> None:
    assert results["inside"].status == "holds", results["inside"].examples
    assert "RT-1" not in results["inside"].proofs
