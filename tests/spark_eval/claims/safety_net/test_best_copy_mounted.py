from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.best_copy_mounted import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import (
    ASKED_WITHIN,
    MANAGER,
    NEW,
    OLD,
    SHIPPED_WITHIN,
    activate,
    bring,
    with_two_copies,
)
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, Row, Run

THIRD = "lyo-mbx2"
DEAD, SILENT, MOUNTED = 40 * MINUTE, 41 * MINUTE, 42 * MINUTE
SHIPPED = DEAD - ASKED_WITHIN - SHIPPED_WITHIN
NEW_HAD = 7
DELIVERED_MS = 2 * SECOND - 50


def _died(deliveries: int, last_ms: int = 20 * MINUTE, *, preferred: bool = True) -> Run:
    """par-mbx2 dies at `DEAD`, and lyo-mbx1, with `NEW_HAD` logs, is mounted instead; lyo-mbx2 has
    a third copy, which is `preferred`, or not.
    """
    run = with_two_copies()
    (first, second) = run.plan["topology"]["databases"][0]["copies"]
    third = {"server": THIRD, "activation_preference": 2 if preferred else 3,
             "replay_lag_time_ms": 0}  # fmt: skip
    second["activation_preference"] = 3 if preferred else 2
    run.plan["topology"]["databases"][0]["copies"] = [first, second, third]
    for number in range(deliveries):
        bring(run, last_ms - DELIVERED_MS - number * SECOND)
    run.kill(OLD, DEAD, HOUR)
    run.life(MANAGER, "copy-silent", SILENT, database="DB1", server=OLD, reason="refused")
    activate(run, MOUNTED)
    return run


def _more() -> Run:
    return _died(NEW_HAD + 1, preferred=False)


def _of_third(run: Run, **values: object) -> Run:
    for copy in run.plan["topology"]["databases"][0]["copies"]:
        if copy["server"] == THIRD:
            copy.update(values)
    return run


def _policy(policy: str, site: str = "lyon") -> Run:
    run = _more()
    for server in run.plan["topology"]["servers"]:
        if server["name"] == THIRD:
            server.update({"auto_activation": policy, "site": site})
    return run


def _cut(near: str, service: str, start: int, end: int) -> Run:
    run = _more()
    run.cut(near, THIRD, start, end, fault="f2")
    run.plan["faults"][-1]["links"][0]["service"] = service
    return run


def _killed(server: str, start: int, *, new_database: bool = False) -> Run:
    run = _more()
    run.kill(server, start, start + MINUTE, fault="f2", new_database=new_database)
    return run


def _failed(at_ms: int, teller: str = THIRD, **about: object) -> Run:
    run = _more()
    run.life(teller, "copy-failed", at_ms, database="DB1", **about)
    return run


def _decided(run: Run, **values: object) -> Run:
    rows: list[Row] = run.lifecycle[MANAGER]
    for row in rows:
        if row["event"] == "failover-decided":
            row.update(values)
    return run


def _mounted_at(at_ms: int) -> Run:
    run = _more()
    for row in run.lifecycle[OLD]:
        if row["event"] == "database-mounted":
            row["at_ms"] = at_ms
    return run


def _dismounted() -> Run:
    """The copy before was never silent: it is found dismounted, and none of its logs are known to
    have been shipped.
    """
    run = _decided(_died(NEW_HAD), cause="dismounted under 0")
    run.lifecycle[MANAGER] = [r for r in run.lifecycle[MANAGER] if r["event"] != "copy-silent"]
    return run


def _without_last_log(server: str) -> Run:
    """As servers of others log it."""
    run = _more()
    for row in run.lifecycle[server]:
        if row["event"] == "database-mounted":
            row.pop("last_log")
    return run


def _before(run: Run) -> Run:
    """Another copy was silent long before."""
    run.life(MANAGER, "copy-silent", 10 * MINUTE, database="DB1", server=OLD, reason="refused")
    return run


HOLDS = {
    "has-less": _died(NEW_HAD - 1),
    "has-as-many": _died(NEW_HAD, preferred=False),
    "has-more-perhaps": _died(NEW_HAD + 1, SHIPPED + 1, preferred=False),
    "as-many-perhaps": _died(NEW_HAD, SHIPPED + 1),
}
VIOLATED = {
    "more": (_more(), NEW_HAD + 1),
    "more-at-last": (_died(NEW_HAD + 1, SHIPPED, preferred=False), NEW_HAD + 1),
    "as-many-and-preferred": (_died(NEW_HAD), NEW_HAD),
    "silent-before-too": (_before(_more()), NEW_HAD + 1),
    "of-one-site": (_policy("IntrasiteOnly", "paris"), NEW_HAD + 1),
    "mounted-long-before": (_mounted_at(SHIPPED - SHIPPED_WITHIN), NEW_HAD + 1),
    "cut-off-long-before": (_cut(OLD, "replication", MINUTE, 2 * MINUTE), NEW_HAD + 1),
    "cut-off-for-mail": (_cut(OLD, "smtp", 10 * MINUTE, HOUR), NEW_HAD + 1),
    "from-then-on-for-logs": (
        _cut(OLD, "replication", DEAD - ASKED_WITHIN + MINUTE, HOUR),
        NEW_HAD + 1,
    ),
    "failed-after": (_failed(MOUNTED), NEW_HAD + 1),
    "the-mounted-one-failed": (_failed(MINUTE, NEW), NEW_HAD + 1),
}
NOT_ASKED = {
    "two-copies": with_two_copies(),
    "asked-for": _decided(_more(), cause="asked for by am1"),
    "switchover": _decided(_more(), kind="switchover", cause="asked for by am1"),
    "found-active": _decided(_more(), cause="found active"),
    "dismounted": _dismounted(),
    "its-logs-unknown": _without_last_log(NEW),
    "logs-before-unknown": _without_last_log(OLD),
    "lagged": _of_third(_more(), replay_lag_time_ms=HOUR),
    "blocked": _policy("Blocked"),
    "in-another-site": _policy("IntrasiteOnly"),
    "failed": _failed(10 * MINUTE),
    "failed-as-others-say": _failed(10 * MINUTE, OLD, server=THIRD),
    "no-logs-meanwhile": _cut(OLD, "replication", SHIPPED - MINUTE, DEAD - ASKED_WITHIN),
    "catching-up": _cut(OLD, "replication", SHIPPED - 10 * MINUTE, SHIPPED - 5 * MINUTE),
    "cannot-be-asked": _cut(MANAGER, "management", DEAD - MINUTE, HOUR),
    "was-away": _killed(THIRD, DEAD - 2 * MINUTE),
    "manager-was-away": _killed(MANAGER, DEAD - 2 * MINUTE),
    "manager-lost-its-database": _killed(MANAGER, 20 * MINUTE, new_database=True),
    "mounted-shortly-before": _mounted_at(SHIPPED - SHIPPED_WITHIN + 1),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, run in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return asked | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.proofs) == ("holds", {"TP-6": "holds"}), result.examples
    assert result.asked == 1


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated_where_a_copy_was_passed_over_that_is_better(
    name: str, results: Results
) -> None:
    result = results[f"violated-{name}"]
    assert (result.violations, result.proofs) == (1, {"TP-6": "violated"}), result.examples
    (example,) = result.examples
    assert example.subject == f"DB1:1 on {NEW}, not on {THIRD}"
    assert example.detail.startswith(
        f"{MANAGER} activated DB1 on {NEW} by itself at 0:41:59.000; that copy had {NEW_HAD} logs, "
        f"and the one on {THIRD} {VIOLATED[name][1]} or more"
    )
    is_as_good = VIOLATED[name][1] == NEW_HAD
    assert example.detail.endswith(", and is preferred") == is_as_good


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_of_a_copy_that_need_not_be_as_good(name: str, results: Results) -> None:
    assert results[name].asked_nothing
