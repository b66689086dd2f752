from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.copies_seeded import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import MANAGER, NEW, OLD, SHIPPED_WITHIN, with_two_copies
from tests.spark_eval.runs.run_builder import END, MINUTE, SECOND, TIMEOUT, Run

LOST, BACK = 30 * MINUTE, 36 * MINUTE
OPENED = BACK + 2 * SECOND
# as long again as the server was away, and a time-out; then a request more than a log takes
BEHIND = BACK + 3 * SECOND + (BACK + 3 * SECOND - LOST) + TIMEOUT
DUE = BEHIND + SHIPPED_WITHIN + 10 * SECOND


def _anew(
    state: str = "seeding", *, seeded: int | None = OPENED + 5 * SECOND, server: str = NEW
) -> Run:
    run = with_two_copies()
    run.replace(server, LOST, BACK)
    run.life(server, "copy-opened", OPENED, database="DB1", epoch=0, last_log=0, state=state)
    if seeded is not None:
        run.life(server, "copy-seeded-here", seeded, database="DB1", epoch=0, last_log=7)
    return run


def _mounted(at_ms: int, seeded: int | None = OPENED + MINUTE) -> Run:
    run = _anew(seeded=seeded)
    run.life(NEW, "database-mounted", at_ms, database="DB1", epoch=1, last_log=8)
    return run


def _decided(at_ms: int, cause: str = "silent: connection refused") -> Run:
    run = _anew(seeded=OPENED + 3 * MINUTE)
    run.life(MANAGER, "failover-decided", at_ms, database="DB1", epoch=1, kind="failover",
             cause=cause, to=NEW)  # fmt: skip
    return run


def _cut(run: Run) -> Run:
    run.cut(OLD, NEW, BACK, END, fault="f2")
    run.plan["faults"][-1]["links"][0]["service"] = "replication"
    return run


def _of_an_active_copy(*, follower_ms: int | None) -> Run:
    run = _anew(seeded=None, server=OLD)
    if follower_ms is not None:
        run.life(NEW, "database-mounted", follower_ms, database="DB1", epoch=1, last_log=8)
    return run


HOLDS = {
    "seeded-soon": _anew(),
    "just-in-time": _anew(seeded=DUE),
    "mounted-after-its-seed": _mounted(OPENED + 2 * MINUTE),
    "decided-on-after-its-seed": _decided(OPENED + 4 * MINUTE),
    "asked-for-before-its-seed": _decided(OPENED + MINUTE, "asked for by am1"),
    "not-reached": _cut(_anew(seeded=None)),
    "of-an-active-copy-that-no-other-follows": _of_an_active_copy(follower_ms=None),
}
VIOLATED = {
    "opened-as-active": _anew("active"),
    "opened-as-passive": _anew("passive"),
    "never-seeded": _anew(seeded=None),
    "seeded-late": _anew(seeded=DUE + SECOND),
    "mounted-before-its-seed": _mounted(OPENED + 30 * SECOND),
    "decided-on-before-its-seed": _decided(OPENED + MINUTE),
    "never-seeded-by-the-copy-that-followed": _of_an_active_copy(follower_ms=40 * MINUTE),
}
NOT_ASKED = {"no-new-server": with_two_copies()}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, run in HOLDS.items()}
    return asked | {f"violated-{name}": run for name, run in VIOLATED.items()} | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert result.status == "holds", result.examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1), result


def test_says_what_was_done_with_an_empty_copy(results: Results) -> None:
    (example,) = results["violated-mounted-before-its-seed"].examples
    assert example.detail == (
        f"the copy of DB1 on {NEW}, which came anew, was mounted at 0:36:32.000, and it was not "
        "seeded before"
    )


def test_asks_nothing_without_a_new_server(results: Results) -> None:
    assert results["no-new-server"].asked_nothing
