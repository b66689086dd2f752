from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.lag_kept import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import NEW, OLD, activate, with_two_copies
from tests.spark_eval.runs.lagged_runs import (
    MOUNTED,
    activated,
    corrupted,
    lagged,
    with_mail,
)
from tests.spark_eval.runs.run_builder import END, HOUR, MINUTE, SECOND, Run

# an hour before the mount at 1:40 there were the logs of 0:10 to 0:30, and that of 0:40 is too near
AS_IT_STANDS = 3
POINT = 65 * MINUTE
BY_THEN = 6


def _at_the_end(last_log: int, *, epoch: int = 0, state: str = "passive") -> Run:
    """All nine logs are older than an hour by then."""
    run = with_mail()
    row = {
        "database": "DB1", "state": state, "epoch": epoch, "last_log": last_log,
        "last_log_epoch": 0, "last_log_ms": HOUR, "received": 9, "messages": last_log,
        "content_sha256": "0" * 16,
    }  # fmt: skip
    run.copies[NEW] = [row]
    return run


def _cut(run: Run, start: int, end: int) -> Run:
    run.cut(OLD, NEW, start, end)
    run.plan["faults"][-1]["links"][0]["service"] = "replication"
    return run


def _away(run: Run) -> Run:
    run.kill(NEW, MOUNTED - 5 * MINUTE, MOUNTED - 10 * SECOND)
    return run


def _seeded(run: Run) -> Run:
    run.life(NEW, "copy-seeded-here", 80 * MINUTE, database="DB1", epoch=0, last_log=7)
    return run


def _of_itself() -> Run:
    """Nobody asked for it: whether that may be is another claim's question."""
    run = lagged(with_two_copies())
    activate(run)
    return run


HOLDS = {
    "as-it-stands": activated(AS_IT_STANDS),
    "with-one-that-is-just-due": activated(AS_IT_STANDS + 1, at_ms=MOUNTED + 5 * SECOND),
    "at-a-point-in-time": activated(BY_THEN, POINT),
    "all-of-it": activated(9, MOUNTED),
    "at-the-end": _at_the_end(9),
    "seeded-since": _seeded(activated(7)),
    "a-corruption-is-a-log": corrupted(activated(BY_THEN + 1, POINT), 35 * MINUTE, last_log=4),
}
VIOLATED = {
    "too-much": activated(AS_IT_STANDS + 2),
    "too-little": activated(AS_IT_STANDS - 1),
    "all-at-once": activated(9),
    "later-than-the-point": activated(BY_THEN + 1, POINT),
    "earlier-than-the-point": activated(BY_THEN - 1, POINT),
    "behind-at-the-end": _at_the_end(8),
    "too-much-though-logs-were-late": _cut(activated(9), 50 * MINUTE, 55 * MINUTE),
    "too-much-though-seeded": _seeded(activated(8)),
}
NOT_ASKED = {
    "no-lag": with_two_copies(),
    "too-little-and-logs-were-late": _cut(activated(1), 20 * MINUTE, 39 * MINUTE),
    "too-little-and-it-was-away": _away(activated(2)),
    "of-itself": _of_itself(),
    "not-passive": _at_the_end(1, state="active"),
    "of-another-epoch": _at_the_end(1, epoch=1),
}


def runs() -> dict[str, Run]:
    assert END > 3 * HOUR
    asked = {f"holds-{name}": run for name, run in HOLDS.items()}
    return asked | {f"violated-{name}": run for name, run in VIOLATED.items()} | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", 1), result.examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1), result


def test_a_point_in_time_is_a_promise_of_its_own(results: Results) -> None:
    assert results["holds-at-a-point-in-time"].proofs == {"TP-4": "holds", "SN-20": "holds"}
    assert set(results["holds-as-it-stands"].proofs) == {"TP-4"}


def test_says_how_many_logs_it_had_and_should(results: Results) -> None:
    (example,) = results["violated-later-than-the-point"].examples
    assert example.detail == (
        f"{NEW} had replayed 7 logs of DB1 at 1:40:00.000; by 1:05:00.000 there were 6"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_logs_could_not_come_or_nobody_lags(name: str, results: Results) -> None:
    assert results[name].asked_nothing
