from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.copies_agree import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import (
    NEW,
    OLD,
    SHIPPED_WITHIN,
    with_two_copies,
)
from tests.spark_eval.runs.run_builder import END, HOUR, MINUTE, SECOND, TIMEOUT, Run, healthy

THIRD = "lyo-mbx2"
MADE = 40 * MINUTE
SAME, OTHER = "0" * 16, "f" * 16


def _stands(
    run: Run, server: str, state: str, last_log: int = 9, *, epoch: int = 0, log_epoch: int = 0,
    made_ms: int | None = MADE, received: int | None = None, messages: int = 9, sha256: str = SAME,
    database: str = "DB1",
) -> Run:  # fmt: skip
    row = {
        "database": database, "state": state, "epoch": epoch, "last_log": last_log,
        "last_log_epoch": log_epoch, "last_log_ms": made_ms,
        "received": last_log if received is None else received, "messages": messages,
        "content_sha256": sha256,
    }  # fmt: skip
    run.copies.setdefault(server, []).append(row)
    return run


def _active(made_ms: int | None = MADE) -> Run:
    return _stands(with_two_copies(), OLD, "active", made_ms=made_ms)


def _with(last_log: int = 9, *, made_ms: int | None = MADE, sha256: str = SAME) -> Run:
    return _stands(_active(made_ms), NEW, "passive", last_log, sha256=sha256)


def _keeping(received: int) -> Run:
    return _stands(_active(), NEW, "passive", 3, received=received, sha256=OTHER, messages=3)


def _lagged(received: int) -> Run:
    run = _keeping(received)
    run.plan["topology"]["databases"][0]["copies"][1]["replay_lag_time_ms"] = HOUR
    return run


def _cut(run: Run, start: int, end: int) -> Run:
    run.cut(OLD, NEW, start, end)
    run.plan["faults"][-1]["links"][0]["service"] = "replication"
    return run


def _killed(run: Run, server: str) -> Run:
    run.kill(server, MADE + SECOND, MADE + MINUTE)
    return run


def _failed(run: Run, at_ms: int) -> Run:
    run.life(NEW, "copy-failed", at_ms, database="DB1", epoch=0, last_log=1, reason="not a log")
    return run


def _activated(sha256: str = SAME) -> Run:
    """The other copy is active, and the one before does not know it yet."""
    run = _stands(with_two_copies(), OLD, "active", 12, messages=12, sha256=OTHER)
    _stands(run, NEW, "active", 10, epoch=1, log_epoch=1)
    return _stands(run, THIRD, "passive", 10, epoch=1, log_epoch=1, sha256=sha256)


def _with_a_third_copy(run: Run) -> Run:
    copies = run.plan["topology"]["databases"][0]["copies"]
    copies.append({"server": THIRD, "activation_preference": 3, "replay_lag_time_ms": 0})
    return run


def _torn() -> Run:
    run = _with(8)
    run.tail[f"logs/{OLD}/MSGTRK2026010508-1.LOG"] = "2026-01-05T0"
    return run


def _starts_unknown() -> Run:
    run = _with(8)
    run.lifecycle.pop(OLD)
    return run


BEFORE = MADE - 10 * MINUTE
HOLDS = {
    "the-same": _with(),
    "no-logs-yet": _stands(
        _stands(with_two_copies(), OLD, "active", 0, made_ms=None, messages=0),
        NEW, "passive", 0, made_ms=None, messages=0,
    ),
    "lagged": _lagged(9),
    "of-the-latest-epoch": _with_a_third_copy(_activated()),
}  # fmt: skip
VIOLATED = {
    "other-content": _with(sha256=OTHER),
    "other-content-of-the-latest-epoch": _with_a_third_copy(_activated(OTHER)),
    "other-content-in-trouble": _cut(_with(sha256=OTHER), MADE + SECOND, MADE + MINUTE),
    "behind": _with(8),
    "behind-for-just-long-enough": _with(8, made_ms=END - SHIPPED_WITHIN),
    "lagged-behind": _lagged(8),
    "keeping-what-it-received": _keeping(9),
    "another-branch": _stands(_active(), NEW, "passive", 9, epoch=1, log_epoch=1),
    "cut-before": _cut(_with(8), MADE - TIMEOUT - 12 * MINUTE, MADE - TIMEOUT - 7 * MINUTE),
    "given-up": _failed(_with(8), HOUR),
}
NOT_ASKED = {
    "one-copy": healthy(),
    "no-file": with_two_copies(),
    "no-active-copy": _stands(with_two_copies(), NEW, "passive"),
    "no-passive-copy": _stands(_active(), NEW, "dismounted", 8),
    "behind-and-no-time-left": _with(8, made_ms=END - SHIPPED_WITHIN + 1),
    "behind-since-nobody-knows-when": _with(8, made_ms=None),
    "behind-and-cut": _cut(_with(8), MADE + SECOND, MADE + MINUTE),
    "behind-and-cut-before": _cut(_with(8), MADE - TIMEOUT - 12 * MINUTE, MADE - MINUTE),
    "behind-and-killed": _killed(_with(8), OLD),
    "behind-and-killed-the-other": _killed(_with(8), NEW),
    "behind-in-a-hole": _torn(),
    "behind-and-starts-unknown": _starts_unknown(),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, run in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, run in VIOLATED.items()}
    return asked | NOT_ASKED | {"given-up-before": _failed(_with(8), BEFORE)}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", 1), result.examples
    assert result.proofs == {"TP-4": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1), result
    assert result.proofs == {"TP-4": "violated"}


def test_says_where_both_stand(results: Results) -> None:
    (example,) = results["violated-other-content"].examples
    assert example.subject == f"DB1 on {NEW}"
    assert example.detail == (
        f"{NEW} stands at log 9 of DB1 as {OLD} does, with 9 messages where that has 9, or with "
        "others"
    )
    assert [file for file, _ in example.refs] == [
        f"logs/{NEW}/copies.jsonl", f"logs/{OLD}/copies.jsonl"
    ]  # fmt: skip


def test_says_since_when_a_log_is_missing(results: Results) -> None:
    (example,) = results["violated-behind"].examples
    assert example.detail == (
        f"{OLD} made log 9 of DB1 at 0:40:00.000; at the end {NEW} has received 8, and replayed 8"
    )


def test_says_why_a_copy_was_given_up_and_asks_no_logs_of_it(results: Results) -> None:
    (example,) = results["violated-given-up"].examples
    assert example.detail == f"{NEW} gave its copy up at 1:00:00.000: not a log"
    assert results["violated-given-up"].asked == 1


def test_asks_for_logs_that_came_after_a_copy_was_given_up(results: Results) -> None:
    told = results["given-up-before"]
    assert (told.asked, told.violations) == (2, 2)


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_nothing_is_known_or_logs_could_not_go(
    name: str, results: Results
) -> None:
    assert results[name].asked_nothing
