from __future__ import annotations

from itertools import chain

import pytest

from spark_eval.claims.safety_net.failover_allowed import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import (
    ASKED_WITHIN,
    MANAGER,
    NEW,
    OLD,
    activate,
    bring,
    said_by_another,
    with_two_copies,
)
from tests.spark_eval.runs.lagged_runs import lagged
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, Run

DEAD, SILENT, MOUNTED = 40 * MINUTE, 41 * MINUTE, 42 * MINUTE
DIAL = 6
# the last log of a mount is its own
NEW_HAD = 7


def _died(
    deliveries: int, last_ms: int = 20 * MINUTE, *, first_log: int = 0, run: Run | None = None
) -> Run:
    """par-mbx2 dies at `DEAD`, and lyo-mbx1, with `NEW_HAD` logs, is mounted instead."""
    run = run or with_two_copies()
    for number in range(deliveries):
        bring(run, last_ms - 2 * SECOND + 50 - number * SECOND)
    (mount,) = [row for row in run.lifecycle[OLD] if row["event"] == "database-mounted"]
    mount["last_log"] = first_log
    run.kill(OLD, DEAD, HOUR)
    run.life(MANAGER, "copy-silent", SILENT, database="DB1", server=OLD, reason="refused")
    activate(run, MOUNTED)
    return run


def _probed(deliveries: int, probes: int) -> Run:
    """The last deliveries before those of the traffic were of probes."""
    run = with_two_copies()
    for number in range(probes):
        mark = f"<probe.{number}@outside.example>"
        message = bring(run, 10 * MINUTE - number * SECOND)
        for row in (*run.ledger, *chain.from_iterable(run.tracking.values())):
            for key in ("message-id", "message_id"):
                if row.get(key) == message.message_id:
                    row[key] = mark
    return _died(deliveries, run=run)


def _caused(cause: str, *, kind: str = "failover") -> Run:
    run = _died(NEW_HAD + DIAL + 1)
    for row in run.lifecycle[MANAGER]:
        if row["event"] == "failover-decided":
            row.update({"cause": cause, "kind": kind})
    return run


def _manager_away(start: int, end: int, kind: str = "kill", *, last_ms: int = 20 * MINUTE) -> Run:
    run = _died(NEW_HAD + DIAL + 1, last_ms)
    if kind == "kill":
        run.kill(MANAGER, start, end, fault="f2")
    else:
        run.away(kind, MANAGER, start, end, fault="f2")
    return run


def _manager_lost_its_database() -> Run:
    run = _died(NEW_HAD + DIAL + 1)
    run.kill(MANAGER, 30 * MINUTE, 31 * MINUTE, fault="f2", new_database=True)
    return run


def _cut(service: str) -> Run:
    """Active Manager's way to par-mbx2, before the last deliveries."""
    run = _died(NEW_HAD + DIAL + 1, 30 * MINUTE)
    run.cut(MANAGER, OLD, 20 * MINUTE, HOUR, fault="f2")
    run.plan["faults"][-1]["links"][0]["service"] = service
    return run


def _silent_and_reached_before() -> Run:
    """What it was silent for at 10 min is long over."""
    run = _died(NEW_HAD + DIAL + 1)
    run.life(MANAGER, "copy-silent", 10 * MINUTE, database="DB1", server=OLD, reason="refused")
    return run


def _silent(server: str) -> Run:
    run = _died(NEW_HAD + DIAL + 1)
    for row in run.lifecycle[MANAGER]:
        if row["event"] == "copy-silent":
            row["server"] = server
    return run


def _policy(policy: str, *, same_site: bool = False, deliveries: int = 0) -> Run:
    run = _died(deliveries)
    for server in run.plan["topology"]["servers"]:
        if server["name"] == NEW:
            server["auto_activation"] = policy
            server["site"] = "paris" if same_site else server["site"]
    return run


HOLDS = {
    "lacks-nothing": _died(NEW_HAD),
    "lacks-as-many-as-it-may": _died(NEW_HAD + DIAL),
    "lacks-later-ones-too": _died(NEW_HAD + DIAL + 1, DEAD - ASKED_WITHIN + 1),
    "counted-from-the-mount": _died(DIAL, first_log=NEW_HAD),
    "lacks-probes": _probed(NEW_HAD, DIAL),
    "in-one-site": _policy("IntrasiteOnly", same_site=True),
    "dismounted": _caused("dismounted under 0"),
    "cut-off-before": _cut("management"),
    "another-is-silent": _silent(NEW),
    "manager-away-meanwhile": _manager_away(10 * MINUTE, 41 * MINUTE - SECOND),
    "manager-lost-its-database": _manager_lost_its_database(),
    "manager-had-no-room": _manager_away(38 * MINUTE, 39 * MINUTE, "fill_disk"),
}
VIOLATED = {
    "lacks-one-more": _died(NEW_HAD + DIAL + 1),
    "lacks-one-more-at-last": _died(NEW_HAD + DIAL + 1, DEAD - ASKED_WITHIN),
    "counted-from-the-mount": _died(DIAL + 1, first_log=NEW_HAD),
    "lacks-probes": _probed(NEW_HAD, DIAL + 1),
    "reached-in-between": _silent_and_reached_before(),
    "cut-off-for-logs-alone": _cut("replication"),
    "manager-away-at-the-end": _manager_away(39 * MINUTE, 40 * MINUTE + 30 * SECOND),
    "manager-away-before": _manager_away(10 * MINUTE, 11 * MINUTE),
}
FORBIDDEN = {
    "blocked": (_policy("Blocked"), "Blocked"),
    "blocked-in-one-site": (_policy("Blocked", same_site=True), "Blocked"),
    "in-another-site": (
        _policy("IntrasiteOnly"), f"IntrasiteOnly, and {OLD} is of another site",
    ),
}  # fmt: skip
NOT_ASKED = {
    "asked-for": _caused("asked for by am1"),
    "switchover": _caused("asked for by am1", kind="switchover"),
    "found-active": _caused("found active"),
    "nothing-moved": with_two_copies(),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, run in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, run in VIOLATED.items()}
    asked |= {f"forbidden-{name}": run for name, (run, _) in FORBIDDEN.items()}
    asked["lagged"] = lagged(_died(NEW_HAD))
    asked["another-dag"] = said_by_another(_died(NEW_HAD), "failover-decided")
    return asked | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.proofs) == ("holds", {"TP-6": "holds"}), result.examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated_by_a_copy_that_lacks_more_than_the_dial_allows(
    name: str, results: Results
) -> None:
    result = results[f"violated-{name}"]
    assert (result.violations, result.proofs) == (1, {"TP-6": "violated"}), result.examples
    detail = result.examples[0].detail
    assert detail.startswith(f"{MANAGER} activated DB1 on {NEW} by itself at 0:41:59.000; ")
    assert f"that copy had {NEW_HAD} logs, and the one on {OLD} had {NEW_HAD + DIAL + 1}" in detail


@pytest.mark.parametrize("name", FORBIDDEN)
def test_is_violated_by_a_copy_whose_server_is_not_to_activate_it(
    name: str, results: Results
) -> None:
    result = results[f"forbidden-{name}"]
    assert (result.violations, result.proofs) == (1, {"TP-6": "violated"}), result.examples
    policy = FORBIDDEN[name][1]
    assert result.examples[0].detail.endswith(f"its DatabaseCopyAutoActivationPolicy is {policy}")


def test_is_violated_by_a_lagged_copy(results: Results) -> None:
    result = results["lagged"]
    assert (result.violations, result.proofs) == (1, {"TP-6": "violated"}), result.examples
    assert result.examples[0].detail.endswith("by itself at 0:41:59.000; that is a lagged copy")


def test_is_violated_by_active_manager_of_another_dag(results: Results) -> None:
    result = results["another-dag"]
    assert (result.violations, result.proofs) == (1, {"TP-6": "violated"}), result.examples
    assert result.examples[0].detail == (
        f"am2 activated DB1 on {NEW} by itself at 0:41:59.000; it is Active Manager of DAG2, that "
        "server is of DAG1"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_that_somebody_asked_for(name: str, results: Results) -> None:
    assert results[name].asked_nothing
