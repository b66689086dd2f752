"""What a logical corruption of a mailbox database explains, and what of a lag may be lost."""

from __future__ import annotations

import pytest

from spark_eval.claims.mail.no_loss import CLAIM as NO_LOSS
from spark_eval.claims.safety_net.resubmission_complete import CLAIM as COMPLETE
from spark_eval.expected.safety_net.lagged_copies import at_risk
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.test_software import read
from tests.spark_eval.runs.failover_runs import MOUNTED, NEW, before, lossy
from tests.spark_eval.runs.lagged_runs import activated, corrupted, lagged
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, Run

REASON = "delivered, and lost with what mailboxes of DB1 had at 0:25:00.000"
POINT = 65 * MINUTE


def _emptied(at_ms: int = 25 * MINUTE, *, epoch: int = 1, last_log: int = 12) -> Run:
    """All came back after the failover, and is gone from mailboxes at the end."""
    run = lossy().run
    run.mailboxes["DB1"].clear()
    return corrupted(run, at_ms, server=NEW, epoch=epoch, last_log=last_log)


def _gone_back() -> Run:
    """The corruption is a log of the old copy that the new one never had."""
    run = before().run
    return corrupted(run, 19 * MINUTE, last_log=8)


RUNS = {
    "emptied": _emptied(),
    "gone-back": _gone_back(),
    "lag": activated(3),
    "point": activated(6, POINT),
}


def runs() -> dict[str, Run]:
    return RUNS


@pytest.fixture(scope="module")
def lost(ask: Ask) -> Results:
    return ask(NO_LOSS)


@pytest.fixture(scope="module")
def back(ask: Ask) -> Results:
    return ask(COMPLETE)


def test_what_a_corruption_took_is_lost_and_named(lost: Results) -> None:
    result = lost["emptied"]
    assert result.violations > 0
    assert {example.detail for example in result.examples} == {REASON}


def test_what_a_corruption_took_need_not_come_back(back: Results) -> None:
    assert back["emptied"].violations == 0


def test_a_corruption_that_a_copy_went_back_behind_explains_nothing(lost: Results) -> None:
    assert all("lost with what" not in each.detail for each in lost["gone-back"].examples)


@pytest.mark.parametrize(("name", "requirement"), [("lag", "SN-5"), ("point", "SN-20")])
def test_what_an_activated_lagged_copy_lacks_is_a_promise_of_its_own(
    name: str, requirement: str, back: Results
) -> None:
    result = back[name]
    assert result.proofs[requirement] == "violated"  # nobody was asked
    assert len({"SN-5", "SN-20"} & set(result.proofs)) == 1


def _holding(hold_ms: int, run: Run) -> list[str]:
    run.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = hold_ms
    run.name = "held"
    return at_risk(read(run).run)


def test_a_lag_longer_than_safety_nets_keep_mail_is_at_risk() -> None:
    assert _holding(HOUR, activated(3)) == []
    assert _holding(20 * MINUTE, lagged()) == [
        f"the lagged copy of DB1 on {NEW}: SafetyNetHoldTime 0:20:00.000 is less than its "
        "ReplayLagTime 1:00:00.000"
    ]


@pytest.mark.parametrize(("before_ms", "since"), [(None, "0:40:00.000"), (POINT, "1:05:00.000")])
def test_what_is_at_risk_is_named_to_the_minute(before_ms: int | None, since: str) -> None:
    _, interval = _holding(20 * MINUTE, activated(3, before_ms))
    assert interval == (
        f"it was activated at 1:40:00.000: what DB1 took from {since} to 1:20:00.000 may be lost"
    )
    assert MOUNTED < HOUR
