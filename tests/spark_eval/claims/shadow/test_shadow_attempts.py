from __future__ import annotations

import pytest

from spark_eval.claims.shadow.shadow_attempts import CLAIM, NO_ANSWER
from spark_eval.expected.mail.rejection import REJECTION
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.shadow.test_shadow_placement import _shadowed_by
from tests.spark_eval.runs.run_builder import (
    MINUTE,
    SECOND,
    Run,
    empty,
    user,
)

REMOTE = ("lyo-mbx1", "lyo-mbx2")
ALL = (*REMOTE, "par-mbx2")
ALL_TRIED = "lyo-mbx1 lyo-mbx2 lyo-mbx1 lyo-mbx2 par-mbx2 par-mbx2"
FOR_NOTHING = ", and no fault was in the way"


def _failed(names: str, attempts: int, reason: str = "refused") -> Run:
    run = empty()
    run.accept(20 * MINUTE, [user(1)], shadow=None)
    row = run.rows("par-mbx1", "HAREDIRECTFAIL")[0]
    row["source-context"] = "; ".join(
        f"{name}.shadowlab.example: {reason}" for name in names.split()
    )
    row["custom"]["Attempts"] = attempts
    return run


def _behind_cuts(run: Run, *names: str, end: int = 30 * MINUTE) -> Run:
    """The ways of par-mbx1 to these are cut almost from the beginning."""
    for number, name in enumerate(names):
        run.cut("par-mbx1", name, SECOND, end, fault=f"f{number}")
    return run


def _local_last_after_the_heal(minutes: int) -> Run:
    """Each attempt may take a minute; so many before the fifth came off, remote servers could be
    reached again.
    """
    run = _shadowed_by("par-mbx2", attempts=5, at_ms=20 * MINUTE)
    of_server = run.plan["settings"]["servers"]["par-mbx1"]
    of_server["SendConnector"]["ConnectionInactivityTimeOut"] = MINUTE
    return _behind_cuts(run, *REMOTE, end=(20 - minutes) * MINUTE)


def _sessions_lost(minutes: int) -> Run:
    """The heal was six minutes before the fifth came off, at 20 min: it may have waited since those
    before it lost a session. From 21 min on remote servers cannot be reached again.
    """
    run = _local_last_after_the_heal(6)
    for name in REMOTE:
        run.cut("par-mbx1", name, 21 * MINUTE, 30 * MINUTE, fault=f"again-{name}")
        row = {
            "at_ms": minutes * MINUTE, "session": f"to-{name}", "source": "SMTP",
            "destination": name, "direction": "-",
            "description": "Messages: 0 (Retry : connection refused)",
        }  # fmt: skip
        run.contacts.setdefault("par-mbx1", []).append(row)
    return run


def _refused(*cut_off: str, reason: str = "451 4.3.2 Not now") -> Run:
    """Nobody takes a copy; the ways to some are cut."""
    return _behind_cuts(_failed(ALL_TRIED, 6, reason), *cut_off)


def _silent(*names: str, attempts: int = 2) -> Run:
    """Others answered when these had not."""
    run = _shadowed_by("par-mbx2" if attempts > 2 else "lyo-mbx1", attempts=attempts)
    run.rows("par-mbx1", "HAREDIRECT")[0]["custom"]["Silent"] = " ".join(names)
    return run


def _on(host: str, run: Run) -> Run:
    run.ran_on = host
    return run


def _rejected(*cut_off: str) -> Run:
    """The same, and the message is rejected for it."""
    run = _refused(*cut_off)
    run.rows("par-mbx1", "HAREDIRECTFAIL")[0]["custom"]["Outcome"] = "rejected"
    run.remove("par-mbx1", "RECEIVE")
    run.ledger[-1] |= {"outcome": "failed", "reply": REJECTION}
    return run


def runs() -> dict[str, Run]:
    return {
        "empty": empty(),
        "local-last": _behind_cuts(_shadowed_by("par-mbx2", attempts=5), *REMOTE),
        "local-last-for-nothing": _shadowed_by("par-mbx2", attempts=5),
        "local-last-soon-after-the-heal": _local_last_after_the_heal(minutes=3),
        "local-last-long-after-the-heal": _local_last_after_the_heal(minutes=6),
        "sessions-lost": _sessions_lost(13),
        "sessions-lost-long-before": _sessions_lost(9),
        "sessions-lost-after-the-heal": _sessions_lost(16),
        "sessions-lost-afterwards": _sessions_lost(22),
        "second-attempt": _behind_cuts(_shadowed_by("lyo-mbx1", attempts=2), "lyo-mbx2"),
        "second-attempt-for-nothing": _shadowed_by("lyo-mbx1", attempts=2),
        "gave-up-for-nothing": _failed(ALL_TRIED, 6),
        "gave-up-long-after": _behind_cuts(_failed(ALL_TRIED, 6), *ALL, end=9 * MINUTE),
        "failed-one-twice": _failed("lyo-mbx1 lyo-mbx1", 2),
        "failed-too-often": _failed(f"{ALL_TRIED} par-mbx2", 7),
        "failed-too-soon": _failed("lyo-mbx1", 1),
        "refused-by-all": _refused(),
        "refused-by-some": _refused("lyo-mbx1", "par-mbx2"),
        "all-cut-off": _refused(*ALL),
        "all-silent": _refused(*ALL, reason=NO_ANSWER),
        "all-silent-for-nothing": _on("simulator", _refused(reason=NO_ANSWER)),
        "machine-stood-still": _on("containers", _refused(reason=NO_ANSWER)),
        "second-attempt-after-silence": _on("containers", _silent("lyo-mbx2")),
        "second-attempt-after-silence-simulated": _on("simulator", _silent("lyo-mbx2")),
        "silent-once-of-two": _on("containers", _silent("lyo-mbx2", attempts=3)),
        "rejected": _rejected(*ALL),
        "rejected-for-nothing": _rejected(*REMOTE),
    }  # fmt: skip


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize(
    "run",
    [
        "local-last",
        "local-last-soon-after-the-heal",
        "sessions-lost",
        "second-attempt",
        "all-cut-off",
        "all-silent",
        "machine-stood-still",
        "second-attempt-after-silence",
        "rejected",
    ],
)
def test_holds_where_the_rules_were_followed(results: Results, run: str) -> None:
    assert results[run].status == "holds"


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ("failed-one-twice", "tried one twice while others were untried: lyo-mbx1, lyo-mbx1"),
        ("failed-too-soon", "gave up after 1 attempts; PreferRemote allows 6"),
        ("refused-by-all", f"an attempt at lyo-mbx1, lyo-mbx2, par-mbx2 failed{FOR_NOTHING}"),
        ("refused-by-some", f"par-mbx1 says that an attempt at lyo-mbx2 failed{FOR_NOTHING}"),
        ("gave-up-for-nothing", f"lyo-mbx1, lyo-mbx2, par-mbx2 failed{FOR_NOTHING}"),
        ("gave-up-long-after", f"lyo-mbx1, lyo-mbx2, par-mbx2 failed{FOR_NOTHING}"),
        ("rejected-for-nothing", f"an attempt at par-mbx2 failed{FOR_NOTHING}"),
        ("local-last-for-nothing", "4 attempts failed, and a fault was in the way of 0 servers"),
        ("local-last-long-after-the-heal", "4 attempts failed, and a fault was in the way of 0"),
        ("sessions-lost-long-before", "4 attempts failed, and a fault was in the way of 0"),
        ("sessions-lost-after-the-heal", "4 attempts failed, and a fault was in the way of 0"),
        ("sessions-lost-afterwards", "4 attempts failed, and a fault was in the way of 0"),
        ("all-silent-for-nothing", f"lyo-mbx1, lyo-mbx2, par-mbx2 failed{FOR_NOTHING}"),
        ("second-attempt-after-silence-simulated", "1 attempts failed, and a fault was in the way"),
        ("silent-once-of-two", "2 attempts failed, and a fault was in the way of 1 servers"),
        ("second-attempt-for-nothing", "1 attempts failed, and a fault was in the way of 0"),
        ("failed-too-often", "more attempts than PreferRemote allows"),
    ],
)
def test_is_violated_where_a_rule_was_broken(results: Results, run: str, says: str) -> None:
    result = results[run]
    assert result.status == "violated"
    assert any(says in example.detail for example in result.examples)


def test_is_unknown_where_nothing_failed(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)
