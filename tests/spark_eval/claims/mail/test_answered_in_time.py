from __future__ import annotations

import pytest

from spark_eval.claims.mail.answered_in_time import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, healthy, user

SERVER = "par-mbx1"
BEGAN = 20 * MINUTE
REJECTED = "451 4.4.0 Message failed to be made redundant"
HUNG_UP = "421 4.4.1 Connection timed out"
NO_ANSWER = "final dot: timed out"
# ConnectionTimeout, a second, two of the wall at 60 times its speed, and the clock's resolution
LIMIT = 10 * MINUTE + SECOND + 120 * SECOND + 900
QUIET = LIMIT - 10 * MINUTE + 20 * SECOND
ACCEPTED = "250 2.6.0 Queued mail for delivery"
SEEN = "<m000001.calm.7@outside.example>, attempt 1"


def _tried(
    took: int, outcome: str = "failed", reply: str | None = REJECTED, reason: str = ""
) -> Run:
    run = empty()
    message = run.submit(BEGAN, [user(1)])
    run.attempt(message, SERVER, BEGAN, outcome, reply, BEGAN + took)
    run.ledger[-1]["reason"] = reason
    return run


def _unanswered(took: int, reason: str = NO_ANSWER) -> Run:
    return _tried(took, "unknown", None, reason)


def _longer_session(run: Run) -> Run:
    settings = run.plan["settings"].setdefault("servers", {}).setdefault(SERVER, {})
    settings["ReceiveConnector"] = {"ConnectionTimeout": 20 * MINUTE}
    return run


def _cut_off(run: Run, peer: str) -> Run:
    run.cut(peer, SERVER, BEGAN - MINUTE, BEGAN + MINUTE)
    return run


def _cut_off_before(run: Run) -> Run:
    """Longer ago than a session may take."""
    run.cut("lyo-mbx1", SERVER, BEGAN - 15 * MINUTE, BEGAN - 14 * MINUTE)
    return run


HOLDS = {
    "as-late-as-may-be": (_cut_off(_tried(LIMIT), "lyo-mbx1"), 1),
    "accepted-after-a-while": (_cut_off(_tried(3 * MINUTE, "ok", ACCEPTED), "lyo-mbx1"), 1),
    "accepted-while-all-was-well": (_tried(QUIET, "ok", ACCEPTED), 1),
    "others-cut-off": (_cut_off(_tried(9 * MINUTE), "lyo-mbx1"), 1),
}
VIOLATED = {
    "late": (_tried(LIMIT + 1), "par-mbx1 answered at 0:32:01.901; ConnectionTimeout was over at"),
    "late-while-all-was-well": (
        _tried(QUIET + 1, "ok", ACCEPTED),
        "par-mbx1 answered after 0:02:21.901, and no fault acted anywhere",
    ),
    "late-long-after-a-fault": (
        _cut_off_before(_tried(3 * MINUTE, "ok", ACCEPTED)),
        "and no fault acted anywhere",
    ),
    "silent": (_unanswered(15 * MINUTE), "no answer in 0:15:00.000 (final dot: timed out)"),
    "gone": (_unanswered(SECOND, "final dot: connection lost"), "par-mbx1 gave no answer"),
    "silent-before-the-dot": (
        _tried(5 * MINUTE, reply=None, reason="RCPT user01: timed out"),
        "par-mbx1 gave no answer in 0:05:00.000 (RCPT user01: timed out)",
    ),
    "gone-early": (
        _tried(SECOND, reply=None, reason="MAIL: connection lost"),
        "no answer in 0:00:01.000 (MAIL",
    ),
    "hung-up": (_tried(10 * MINUTE, reply=HUNG_UP), "ended the session instead of an answer: 421"),
    "others-cut-off": (_cut_off(_tried(LIMIT + 1), "lyo-mbx1"), "par-mbx1 answered at"),
}
NOT_ASKED = {
    "answered-soon": healthy(),
    "nothing-sent": empty(),
    "cut-off": _cut_off(_unanswered(15 * MINUTE), "workload"),
    "sender-gave-up": _longer_session(_unanswered(15 * MINUTE)),
    "sender-stopped": _unanswered(SECOND, "final dot: the workload was stopped"),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return asked | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", HOLDS[name][1]), result.reason
    assert result.proofs == {"SR-6": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1)
    (example, *_) = result.examples
    assert example.subject == SEEN
    assert VIOLATED[name][1] in example.detail
    assert example.refs == (("ledger.jsonl", 3),)


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_of_who_answered_soon_or_could_not(name: str, results: Results) -> None:
    assert results[name].asked_nothing
