from __future__ import annotations

import pytest

from spark_eval.claims.mail.refused_for_cause import CLAIM
from spark_eval.expected.mail.rejection import REJECTION
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, healthy, mono, user

SERVER, OTHER = "par-mbx1", "par-mbx2"
MIB = 1_048_576
BEGAN = 5 * MINUTE
BUSY = "452 4.3.1 Insufficient system resources"
LOOP = "554 5.4.6 Hop count exceeded - possible mail loop"
TOO_LARGE = "552 5.3.4 Message size exceeds fixed maximum message size"


def _refused(reply: str, *, logged_at: int | None = None) -> Run:
    """One message refused with that; where `logged_at`, no shadow message could be made then."""
    run = empty()
    if logged_at is None:
        message_id = run.submit(BEGAN, [user(1)])
        run.attempt(message_id, SERVER, BEGAN, "failed", reply, BEGAN + SECOND)
        return run
    run.accept(BEGAN, [user(1)], shadow=None)
    run.remove(SERVER, "RECEIVE")
    (row,) = run.rows(SERVER, "HAREDIRECTFAIL")
    row["custom"] |= {"Outcome": "rejected", "Mono": mono(logged_at)}
    run.ledger[-1] |= {"outcome": "failed", "reply": reply}
    return run


def _limited(run: Run, limit_bytes: int) -> Run:
    run.plan["settings"]["TransportConfig"]["MaxReceiveSize"] = limit_bytes
    return run


def _among(run: Run, count: int, size_bytes: int) -> Run:
    """So many more are sent to the same server at the same time."""
    for _ in range(count):
        message_id = run.submit(BEGAN, [user(1)])
        run.ledger[-1] |= {"content_bytes": size_bytes}
        run.attempt(message_id, SERVER, BEGAN, "unknown", None, BEGAN + MINUTE)
    return run


def _after(run: Run, hops: int | None, limit: int | None = None) -> Run:
    """The message had so many Received fields; `limit`: MaxHopCount where it was refused."""
    if hops is not None:
        run.ledger[0]["hops"] = hops
    if limit is not None:
        servers = run.plan["settings"].setdefault("servers", {})
        servers.setdefault(SERVER, {})["ReceiveConnector"] = {"MaxHopCount": limit}
    return run


def _killed(run: Run, server: str) -> Run:
    run.kill(server, BEGAN + 500, BEGAN + MINUTE)
    return run


def _cut(run: Run, source: str) -> Run:
    run.cut(source, SERVER, BEGAN - MINUTE, BEGAN + MINUTE)
    return run


HOLDS = {
    "its-server-was-killed": _killed(_refused(BUSY), SERVER),
    "its-way-was-cut": _cut(_refused(BUSY), "workload"),
    "larger-than-permitted": _limited(_refused(TOO_LARGE), 4095),
    "its-memory-was-full": _among(_refused(BUSY), 14, 10 * MIB),
    "in-a-loop": _after(_refused(LOOP), 3, limit=2),
    "in-a-loop-as-Exchange-counts": _after(_refused(LOOP), 61),
    "no-shadow-was-made": _refused(REJECTION, logged_at=BEGAN + 400),
}
VIOLATED = {
    "busy": (_refused(BUSY), "par-mbx1 refused it, and no fault was in the way: 452 4.3.1"),
    "nobody-of-that-name": (_refused("550 5.1.10 recipient not found"), "refused it, and no fault"),
    "no-larger-than-permitted": (_limited(_refused(TOO_LARGE), 4096), "refused it, and no fault"),
    "no-larger-than-Exchange-permits": (_refused(TOO_LARGE), "refused it, and no fault"),
    "larger-and-refused-for-something-else": (
        _limited(_refused(BUSY), 4095),
        "refused it, and no fault",
    ),
    "its-memory-was-not-full": (
        _among(_refused(BUSY), 12, 10 * MIB),
        "refused it, and no fault",
    ),
    "full-and-refused-for-something-else": (
        _among(_refused("451 4.3.0 Message could not be stored"), 14, 10 * MIB),
        "refused it, and no fault",
    ),
    "in-no-loop": (_after(_refused(LOOP), 2, limit=2), "refused it, and no fault"),
    "in-no-loop-as-Exchange-counts": (_after(_refused(LOOP), 60), "refused it, and no fault"),
    "in-a-loop-and-refused-for-something-else": (
        _after(_refused(BUSY), 61),
        "refused it, and no fault",
    ),
    "another-was-killed": (_killed(_refused(BUSY), OTHER), "refused it, and no fault"),
    "another-way-was-cut": (_cut(_refused(BUSY), OTHER), "refused it, and no fault"),
    "rejected-without-a-word": (
        _refused(REJECTION),
        "par-mbx1 rejected it, and logged no attempt to make it redundant",
    ),
    "rejected-before": (_refused(REJECTION, logged_at=BEGAN - SECOND), "rejected it, and logged"),
}
UNKNOWN = {"hops-are-not-known": _refused(LOOP)}
NOT_ASKED = {
    "accepted": healthy(),
    "nothing-sent": empty(),
    "hung-up": _refused("421 4.3.2 Service not active"),
}


def runs() -> dict[str, Run]:
    asked = {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return HOLDS | asked | UNKNOWN | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds_where_something_was_in_the_way(name: str, results: Results) -> None:
    assert (results[name].status, results[name].asked) == ("holds", 1)
    assert results[name].proofs == {"SR-5": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated_where_nothing_was(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1)
    assert VIOLATED[name][1] in result.examples[0].detail
    assert result.examples[0].refs[0] == ("ledger.jsonl", 3)


@pytest.mark.parametrize("name", UNKNOWN)
def test_is_unknown_where_the_ledger_does_not_say(name: str, results: Results) -> None:
    assert (results[name].status, results[name].violations) == ("unknown", 0)


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_nobody_was_refused(name: str, results: Results) -> None:
    assert results[name].asked_nothing
