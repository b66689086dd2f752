from __future__ import annotations

import pytest

from spark_eval.claims.node.steps_logged import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import MANAGER, NEW, OLD, REQUEST, with_two_copies
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, user

PRIMARY, SHADOW = "par-mbx1", "lyo-mbx1"
PROMOTED, DECIDED, TOLD, OVER = 40 * MINUTE, 20 * MINUTE, 21 * MINUTE, 22 * MINUTE
ASKED, COMPLETED, HEARD = TOLD, 23 * MINUTE, 24 * MINUTE
CHANGE = {"database": "DB1", "epoch": 1}
# what a disk takes; a second, two of the wall at 60 times its speed, and the clock's resolution of
# 900 ms; a quarter of a wall second, and five times that resolution
VAGUE = 15 * SECOND + 4_500
LATE = 30 * SECOND + SECOND + 120 * SECOND + 900 + VAGUE


def _promoted(*begun: tuple[int, str, str], times: int = 1) -> Run:
    """A promotion of what par-mbx1 had made, and what the log says had `begun`: when, of which
    primary server, for which cause.
    """
    run = empty()
    for number in range(times):
        message = run.accept((number + 1) * MINUTE, [user(1)], shadow=SHADOW)
        run.promote(message, PROMOTED, "heartbeat")
    for at_ms, primary, cause in begun:
        run.life(SHADOW, "promotion-begun", at_ms, primary=primary, cause=cause, count=times)
    return run


def _paused() -> Run:
    run = _promoted((PROMOTED - 10 * MINUTE, PRIMARY, "heartbeat"))
    run.away("pause", SHADOW, PROMOTED - 9 * MINUTE, PROMOTED - MINUTE)
    return run


def _promoted_after_a_kill() -> Run:
    """Of what was killed before."""
    run = _promoted()
    run.kill(SHADOW, PROMOTED - 2 * SECOND, PROMOTED - SECOND)
    return run


def _without_log() -> Run:
    run = _promoted()
    run.lifecycle.pop(SHADOW)
    return run


def _changed(
    *, decided: int | None = DECIDED, mounted: int | None = DECIDED + 5 * SECOND,
    learnt: int | None = TOLD - SECOND, learnt_epoch: int = 1, over: bool = True,
) -> Run:  # fmt: skip
    """Active Manager moved DB1 from par-mbx2 to lyo-mbx1, and told par-mbx1 so."""
    run = with_two_copies()
    if decided is not None:
        run.life(MANAGER, "failover-decided", decided, **CHANGE, kind="failover", to=NEW)
    if mounted is not None:
        run.life(MANAGER, "failover-mounted", mounted, **CHANGE, kind="failover", to=NEW)
    if learnt is not None:
        known = {"database": "DB1", "epoch": learnt_epoch}
        run.life(PRIMARY, "active-copy", learnt, **known, server=NEW)
    run.life(MANAGER, "active-copy-told", TOLD, **CHANGE, active=NEW, server=PRIMARY)
    if over:
        run.life(MANAGER, "failover-over", OVER, **CHANGE, kind="failover", to=NEW)
    return run


def _learnt_elsewhere() -> Run:
    run = _changed(learnt=None)
    run.life(OLD, "active-copy", TOLD - SECOND, **CHANGE, server=NEW)
    return run


def _killed(run: Run, server: str, at_ms: int) -> Run:
    run.kill(server, at_ms, at_ms + SECOND)
    return run


def _given_back(
    completed: int | None = COMPLETED, *, server: str = PRIMARY, request: str = REQUEST,
    safety_net: str = "primary", requested: bool = True,
) -> Run:  # fmt: skip
    run = with_two_copies()
    asked = {"database": "DB1", "request_id": REQUEST, "safety_net": "primary"}
    if requested:
        run.life(PRIMARY, "resubmit-requested", ASKED, **asked)
    if completed is not None:
        done = {**asked, "request_id": request, "safety_net": safety_net}
        run.life(server, "resubmit-completed", completed, **done)
    run.life(MANAGER, "safety-net-completed", HEARD, **asked, server=PRIMARY)
    return run


BEGUN = (PROMOTED, PRIMARY, "heartbeat")
HOLDS = {
    "begun": (_promoted(BEGUN), 1),
    "begun-for-several": (_promoted(BEGUN, times=3), 3),
    "begun-as-late-as-may-be": (_promoted((PROMOTED - LATE - VAGUE, PRIMARY, "heartbeat")), 1),
    "said-a-little-later": (_promoted((PROMOTED + VAGUE, PRIMARY, "heartbeat")), 1),
    "changed": (_changed(), 2),
    "not-over": (_changed(over=False), 2),
    "learnt-of-a-later-one": (_changed(learnt_epoch=2), 2),
    "decision-not-logged": (_changed(decided=None), 2),
    "given-back": (_given_back(), 1),
    "request-not-logged": (_given_back(requested=False), 1),
}
BEGINS = "a promotion of messages of par-mbx1 had begun for that cause"
LEARNT = "it learnt of it"
MOUNTS = "its new copy was mounted"
COMPLETES = "it did"
VIOLATED = {
    "never-begun": (_promoted(), BEGINS),
    "begun-for-another": (_promoted((PROMOTED, OLD, "heartbeat")), BEGINS),
    "begun-for-another-cause": (_promoted((PROMOTED, PRIMARY, "database")), BEGINS),
    "begun-long-before": (_promoted((PROMOTED - LATE - VAGUE - 1, PRIMARY, "heartbeat")), BEGINS),
    "said-too-late": (_promoted((PROMOTED + VAGUE + 1, PRIMARY, "heartbeat")), BEGINS),
    "killed-long-before": (_killed(_promoted(), SHADOW, 10 * MINUTE), BEGINS),
    "never-learnt": (_changed(learnt=None), LEARNT),
    "learnt-by-another": (_learnt_elsewhere(), LEARNT),
    "learnt-of-the-one-before": (_changed(learnt_epoch=0), LEARNT),
    "learnt-before-it-was-decided": (_changed(learnt=DECIDED - VAGUE - 1), LEARNT),
    "learnt-too-late": (_changed(learnt=TOLD + VAGUE + 1), LEARNT),
    "never-mounted": (_changed(mounted=None), MOUNTS),
    "mounted-too-late": (_changed(mounted=TOLD + VAGUE + 1), MOUNTS),
    "never-completed": (_given_back(None), COMPLETES),
    "another-completed": (_given_back(server=OLD), COMPLETES),
    "completed-another": (_given_back(request="DB1:2"), COMPLETES),
    "completed-of-the-other-safety-net": (_given_back(safety_net="shadow"), COMPLETES),
    "killed-before-it-was-asked": (_killed(_given_back(None), PRIMARY, 10 * MINUTE), COMPLETES),
}
NOT_ASKED = {
    "paused": _paused(),
    "killed-near-a-promotion": _promoted_after_a_kill(),
    "no-log": _without_log(),
    "learner-killed": _killed(_changed(learnt=None), PRIMARY, TOLD),
    "completer-killed": _killed(_given_back(None), PRIMARY, COMPLETED),
}


def runs() -> dict[str, Run]:
    held = {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    violated = {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    asked = held | violated | {f"not-asked-{name}": run for name, run in NOT_ASKED.items()}
    for run in asked.values():  # as of the lab
        run.plan["messages"] = [{"message_id": "<sent@shadowlab.example>"}]
    return asked


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.proofs) == ("holds", {"TL-4": "holds"}), result.examples
    assert result.asked == HOLDS[name][1]


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.violations, result.proofs) == (1, {"TL-4": "violated"}), result.examples
    assert result.examples[0].detail.endswith(f" and then that {VIOLATED[name][1]}")
    assert result.examples[0].refs


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_that_may_have_been_lost(name: str, results: Results) -> None:
    assert results[f"not-asked-{name}"].violations == 0
