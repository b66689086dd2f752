from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.stand_ins_asked import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import (
    MANAGER,
    MOUNTED,
    activate,
    lossless_switchover,
    with_two_copies,
)
from tests.spark_eval.runs.run_builder import HOUR, MAILBOX_SERVERS, MINUTE, SECOND, Run

SILENT = "par-mbx1"
OTHERS = tuple(name for name in MAILBOX_SERVERS if name != SILENT)
WAITED = 2 * HOUR


def _silent(*, takers: tuple[str, ...] = OTHERS, at_ms: int = MOUNTED + WAITED + SECOND,
            until_ms: int = MOUNTED + WAITED + HOUR) -> Run:  # fmt: skip
    """Away from before the mount on; Active Manager waits for two hours there."""
    run = with_two_copies()
    run.plan["settings"]["software"] = {"primary_silence_ms": WAITED}
    run.kill(SILENT, MOUNTED - MINUTE, until_ms)
    activate(run)
    for server in takers:
        run.life(server, "resubmit-requested", at_ms, request_id=f"DB1:1/{SILENT}",
                 safety_net="shadow", database="DB1")  # fmt: skip
    return run


def _manager_lost() -> Run:
    run = _silent(takers=())
    run.kill(MANAGER, HOUR, HOUR + MINUTE, new_database=True, fault="f2")
    return run


HOLDS = _silent()
VIOLATED = {
    "too-early": (_silent(at_ms=MOUNTED + WAITED - MINUTE), len(OTHERS)),
    "nobody-asked": (_silent(takers=()), len(OTHERS)),
    "one-not-asked": (_silent(takers=OTHERS[1:]), 1),
}
NOT_ASKED = {
    "back-in-time": _silent(takers=(), until_ms=MOUNTED + HOUR),
    "lossless": lossless_switchover(),
    "active-manager-has-forgotten": _manager_lost(),
}


def runs() -> dict[str, Run]:
    return {"holds": HOLDS} | {f"violated-{n}": run for n, (run, _) in VIOLATED.items()} | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_asks_whether_it_was_in_time_and_not_too_early(results: Results) -> None:
    result = results["holds"]
    assert (result.status, result.asked) == ("holds", 2 * len(OTHERS)), result.examples
    assert result.proofs == {"SN-7": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", VIOLATED[name][1]), result


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_nobody_has_to_stand_in(name: str, results: Results) -> None:
    assert results[name].asked_nothing
