from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.failover_on_time import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import (
    ASKED_WITHIN,
    MANAGER,
    NEW,
    OLD,
    OTHER_MANAGER,
    activate,
    bring,
    said_by_another,
    with_another_dag,
    with_two_copies,
)
from tests.spark_eval.runs.lagged_runs import lagged
from tests.spark_eval.runs.run_builder import END, HOUR, MINUTE, SECOND, Run, healthy

THIRD = "lyo-mbx2"
GONE = 15 * MINUTE
SINCE = GONE + 200
DUE = SINCE + ASKED_WITHIN


def _gone(end: int = HOUR, *, start: int = GONE, server: str = OLD) -> Run:
    run = with_two_copies()
    run.kill(server, start, end)
    return run


def _decided(at_ms: int) -> Run:
    run = _gone()
    activate(run, at_ms + SECOND)
    return run


def _mounted(at_ms: int) -> Run:
    """Active Manager's word is not there."""
    run = _gone()
    activate(run, at_ms)
    run.lifecycle[MANAGER] = [
        row for row in run.lifecycle[MANAGER] if row["event"] != "failover-decided"
    ]
    return run


def _cut(server: str, start: int = GONE, end: int = HOUR, *, service: str = "management") -> Run:
    """Active Manager's way to a server."""
    run = _gone()
    run.cut(MANAGER, server, start, end, fault="f2")
    run.plan["faults"][-1]["links"][0]["service"] = service
    return run


def _with_a_third_copy(run: Run) -> Run:
    copies = run.plan["topology"]["databases"][0]["copies"]
    copies.append({"server": THIRD, "activation_preference": 3, "replay_lag_time_ms": 0})
    return run


def _manager_away(start: int, end: int) -> Run:
    run = _gone()
    run.kill(MANAGER, start, end, fault="f2")
    return run


def _other_manager_away() -> Run:
    run = with_another_dag(_gone())
    run.kill(OTHER_MANAGER, MINUTE, HOUR, fault="f2")
    return run


def _both_gone() -> Run:
    run = _gone()
    run.kill(NEW, GONE, HOUR, fault="f2")
    return run


def _told(event: str, at_ms: int, server: str = MANAGER, *, epoch: int | None = None) -> Run:
    run = _gone()
    more = {} if epoch is None else {"epoch": epoch}
    run.life(server, event, at_ms, database="DB1", **more)
    return run


def _helpless(run: Run) -> Run:
    run.life(MANAGER, "failover-impossible", GONE + MINUTE, database="DB1")
    return run


def _replication_cut(start: int, end: int) -> Run:
    """The way of the logs of the copy that is to go."""
    run = _helpless(_gone())
    run.cut(OLD, NEW, start, end, fault="f2")
    run.plan["faults"][-1]["links"][0]["service"] = "replication"
    return run


def _with_logs(count: int, at_ms: int) -> Run:
    run = _helpless(_gone())
    for _ in range(count):
        bring(run, at_ms)
    return run


def _of_policy(policy: str, *, site: str | None = None) -> Run:
    run = _helpless(_gone())
    for server in run.plan["topology"]["servers"]:
        server.update({"auto_activation": policy, "site": site or server["site"]})
    return run


def _torn() -> Run:
    run = _gone()
    run.tail[f"logs/{MANAGER}/lifecycle.jsonl"] = '{"event": "copy-si'
    return run


def _moved(server: str) -> Run:
    """The other copy was active already."""
    run = with_two_copies()
    activate(run, 10 * MINUTE)
    run.kill(server, GONE, HOUR)
    return run


def _gone_before_it_was_active() -> Run:
    run = _gone(19 * MINUTE, start=10 * MINUTE, server=NEW)
    activate(run, 20 * MINUTE)
    return run


def _paused() -> Run:
    run = _gone()
    run.plan["faults"][-1]["kind"] = "pause"
    return run


def _disk_full() -> Run:
    """It may still answer."""
    run = _gone()
    run.plan["faults"][-1]["kind"] = "fill_disk"
    return run


def _single() -> Run:
    run = healthy()
    run.kill(OLD, GONE, HOUR)
    return run


HOLDS = {
    "decided": _decided(DUE),
    "mounted": _mounted(DUE),
}
VIOLATED = {
    "late": _decided(DUE + 1),
    "mounted-late": _mounted(DUE + 1),
    "never": _gone(),
    "gone-long-enough": _gone(DUE),
    "paused": _paused(),
    "cut-from-the-one-that-is-gone": _cut(OLD),
    "cut-long-before": _cut(NEW, MINUTE, 2 * MINUTE),
    "mail-is-cut": _cut(NEW, service="smtp"),
    "third-copy": _with_a_third_copy(_cut(NEW)),
    "manager-comes-back": _manager_away(MINUTE, GONE + MINUTE),
    "other-comes-back": _cut(NEW, MINUTE, HOUR - ASKED_WITHIN - MINUTE),
    "manager-was-away-before": _manager_away(MINUTE, 2 * MINUTE),
    "impossible-for-no-reason": _helpless(_gone()),
    "impossible-for-fewer-logs": _with_logs(5, GONE - 10 * SECOND),
    "impossible-for-logs-that-are-there": _with_logs(9, GONE - 10 * MINUTE),
    "impossible-long-after-a-cut": _replication_cut(MINUTE, MINUTE + 1),
    "impossible-though-in-its-site": _of_policy("IntrasiteOnly", site="paris"),
    "impossible-afterwards": _told("failover-impossible", HOUR),
    "decided-long-ago": _told("failover-decided", MINUTE, epoch=0),
    "moved": _moved(NEW),
    "another-dag-s-manager-decided": said_by_another(_decided(DUE), "failover-decided"),
    "another-dag-s-manager-away": _other_manager_away(),
}
NOT_ASKED = {
    "one-copy": _single(),
    "nothing-gone": with_two_copies(),
    "gone-too-briefly": _gone(DUE - 1),
    "gone-at-the-end": _gone(END + HOUR, start=END - ASKED_WITHIN - 199),
    "disk-full": _disk_full(),
    "other-is-cut": _cut(NEW),
    "other-is-lagged": lagged(_gone()),
    "other-is-gone": _both_gone(),
    "other-has-failed": _told("copy-failed", MINUTE, NEW),
    "manager-away": _manager_away(GONE + MINUTE, HOUR),
    "manager-comes-back-too-late": _manager_away(MINUTE, HOUR - ASKED_WITHIN),
    "other-comes-back-too-late": _cut(NEW, MINUTE, HOUR - ASKED_WITHIN),
    "manager-s-log-is-torn": _torn(),
    "impossible-by-policy": _of_policy("Blocked"),
    "impossible-by-policy-in-one-site": _of_policy("Blocked", site="paris"),
    "impossible-for-another-site": _of_policy("IntrasiteOnly"),
    "impossible-for-logs": _with_logs(6, GONE - 10 * SECOND),
    "impossible-after-a-cut": _replication_cut(5 * MINUTE, 8 * MINUTE),
    "under-way": _told("failover-decided", GONE - MINUTE, epoch=1),
    "passive": _moved(OLD),
    "not-active-yet": _gone_before_it_was_active(),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, run in HOLDS.items()}
    return asked | {f"violated-{name}": run for name, run in VIOLATED.items()} | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", 1), result.examples
    assert result.proofs == {"TP-6": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations, result.asked) == ("violated", 1, 1), result
    assert result.proofs == {"TP-6": "violated"}


def test_says_since_when_it_was_gone(results: Results) -> None:
    (example,) = results["violated-never"].examples
    assert example.subject == f"DB1 on {OLD}"
    assert example.detail == (
        f"{OLD} had the active copy of DB1 and was away from 0:15:00.200 on; {MANAGER} decided "
        "for no other one by 0:19:34.700"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_of_what_it_could_not_see_or_do(name: str, results: Results) -> None:
    assert results[name].asked_nothing, results[name]
