from __future__ import annotations

import pytest

from spark_eval.claims.mail.deferred_for_cause import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import (
    MANAGER,
    NEW,
    OTHER_MANAGER,
    activate,
    with_another_dag,
    with_two_copies,
)
from tests.spark_eval.runs.run_builder import (
    MINUTE,
    SECOND,
    TIMEOUT,
    Run,
    apart,
    empty,
    healthy,
    user,
)

AT = 20 * MINUTE
# a quarter of a wall second at 60 times its speed, and five times the clock's resolution
VAGUE = 15 * SECOND + 4_500
HEALED = 14 * MINUTE + 200
# Active Manager tries every minute, and waits half a minute for an answer
TOLD_AGAIN = 2 * MINUTE + 30 * SECOND
OUTSIDE = "someone@partner.example"


def _put_off(
    run: Run | None = None, *, fork: str | None = "database:DB1", at_ms: int = AT,
    context: str = "connection refused", to: str = user(1),
) -> Run:  # fmt: skip
    run = run or empty()
    message = run.accept(8 * MINUTE, [to])
    custom = {} if fork is None else {"Fork": fork}
    run.log("par-mbx1", "DEFER", "QUEUE", at_ms, message, source_context=context, custom=custom)
    return run


def _cut(
    at_ms: int, peer: str = "par-mbx2", *, kind: str = "refuse", fork: str = "database:DB1"
) -> Run:
    """From 9 min to 14 min."""
    run = empty()
    run.cut("par-mbx1", peer, 9 * MINUTE, 14 * MINUTE, kind=kind)
    return _put_off(run, at_ms=at_ms, fork=fork)


def _killed(server: str, at_ms: int) -> Run:
    run = empty()
    run.kill(server, 10 * MINUTE, 12 * MINUTE)
    return _put_off(run, at_ms=at_ms)


def _full(at_ms: int) -> Run:
    run = empty()
    run.away("fill_disk", "par-mbx2", 10 * MINUTE, 12 * MINUTE)
    return _put_off(run, at_ms=at_ms, context="451 4.3.0 Message could not be stored")


def _across(cut_to: str) -> Run:
    """To a boundary in which another server than that of the mailbox database takes mail."""
    run = empty()
    apart(run)
    run.cut("par-mbx1", cut_to, 9 * MINUTE, 30 * MINUTE)
    return _put_off(run, fork="site:lyon", to=user(1, "db2"))


REJECTION = "451 4.4.0 Message failed to be made redundant"
WITHIN = ("lyo-mbx1", "lyo-mbx2")


def _inside_another(
    context: str = REJECTION, *, refuses: bool, between: tuple[str, str] = WITHIN,
    enabled: bool = True,
) -> Run:  # fmt: skip
    """To a boundary whose servers cannot make it redundant."""
    run = empty()
    run.ran_on = "simulator"
    apart(run)
    run.plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = refuses
    run.plan["settings"]["TransportConfig"]["ShadowRedundancyEnabled"] = enabled
    run.cut(*between, 9 * MINUTE, 30 * MINUTE)
    return _put_off(run, fork="site:lyon", to=user(1, "db2"), context=context)


def _moved(at_ms: int) -> Run:
    run = with_two_copies()
    activate(run, AT)
    return _put_off(run, at_ms=at_ms, context="the mailbox database is active on another server")


def _not_told(at_ms: int, manager: str = MANAGER) -> Run:
    """Active Manager cannot reach its server from 9 to 14 min, and tells it again after that."""
    run = with_another_dag(with_two_copies())
    waits = {"ConnectionInactivityTimeOut": 20 * SECOND}
    run.plan["settings"]["servers"] = {"par-mbx1": {"SendConnector": waits}}
    activate(run, 10 * MINUTE)
    run.cut(manager, "par-mbx1", 9 * MINUTE, 14 * MINUTE)
    run.plan["faults"][-1]["links"][0]["service"] = "management"
    return _put_off(run, at_ms=at_ms, context="432 4.2.0 not active on this server")


def _other_copy_cut() -> Run:
    run = with_two_copies()
    run.cut("par-mbx1", NEW, 9 * MINUTE, 30 * MINUTE)
    return _put_off(run)


def _stood_still(host: str) -> Run:
    run = _put_off(context="ConnectionInactivityTimeOut")
    run.ran_on = host
    return run


HOLDS = {
    "cut": _cut(10 * MINUTE),
    "just-cut": _cut(9 * MINUTE - VAGUE),
    "cut-until-just-before": _cut(HEALED + TIMEOUT + VAGUE),
    "killed": _killed("par-mbx2", 11 * MINUTE),
    "its-own-start": _killed("par-mbx1", 12 * MINUTE + 4 * SECOND),
    "disk-full": _full(11 * MINUTE),
    "outside-is-cut": _cut(10 * MINUTE, "ext1", fork="external:ext1"),
    "across-the-boundary": _across("lyo-mbx1"),
    "inside-another-boundary": _inside_another(refuses=True),
    "waited-for-inside": _inside_another("ConnectionInactivityTimeOut", refuses=False),
    "moved": _moved(AT + MINUTE),
    "other-copy-is-cut": _other_copy_cut(),
    "not-told-until-just-before": _not_told(HEALED + TOLD_AGAIN + VAGUE),
}
VIOLATED = {
    "for-nothing": _put_off(),
    "before-the-cut": _cut(9 * MINUTE - VAGUE - 1),
    "long-after-the-cut": _cut(HEALED + TIMEOUT + VAGUE + 1),
    "cut-from-another": _cut(10 * MINUTE, "lyo-mbx1"),
    "cut-from-outside": _cut(10 * MINUTE, "ext1"),
    "outside-for-nothing": _put_off(fork="external:ext1", to=OUTSIDE),
    "killed-long-before": _killed("par-mbx2", 12 * MINUTE + 3 * SECOND + TIMEOUT + 2 * MINUTE),
    "another-boundary-is-cut": _across("ext1"),
    "told-long-before": _not_told(HEALED + TOLD_AGAIN + VAGUE + 1),
    "another-dag-s-manager-is-cut-off": _not_told(HEALED + TOLD_AGAIN + VAGUE, OTHER_MANAGER),
    "inside-one-that-refuses-nothing": _inside_another(refuses=False),
    "inside-one-that-makes-nothing-redundant": _inside_another(
        "ConnectionInactivityTimeOut", refuses=False, enabled=False
    ),
    "inside-its-own": _inside_another(refuses=True, between=("par-mbx1", "par-mbx2")),
    "not-yet-moved": _moved(AT - MINUTE),
    "still-in-the-simulator": _stood_still("simulator"),
}
NOT_ASKED = {
    "no-deferral": healthy(),
    "of-a-real-server": _put_off(fork=None),
    "still-on-containers": _stood_still("containers"),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, run in HOLDS.items()}
    return asked | {f"violated-{name}": run for name, run in VIOLATED.items()} | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds_where_something_was_in_the_way(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", 1), result.examples
    assert result.proofs == {"RT-5": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated_where_nothing_was(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations, result.asked) == ("violated", 1, 1), result
    assert result.proofs == {"RT-5": "violated"}


def test_says_what_was_put_off_and_why(results: Results) -> None:
    (example,) = results["violated-for-nothing"].examples
    assert example.subject == "<m000001.calm.7@outside.example> at par-mbx1"
    assert example.detail == (
        "par-mbx1 put it off at 0:20:00.000 (connection refused); no fault was in the way to DB1"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_of_others(name: str, results: Results) -> None:
    assert results[name].asked_nothing, results[name]
