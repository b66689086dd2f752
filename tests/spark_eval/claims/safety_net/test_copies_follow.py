from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.copies_follow import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import (
    NEW,
    OLD,
    SHIPPED_WITHIN,
    activate,
    bring,
    with_two_copies,
)
from tests.spark_eval.runs.run_builder import (
    END,
    HOUR,
    MINUTE,
    SECOND,
    TIMEOUT,
    Run,
    healthy,
    made,
    mono,
)

THIRD = "lyo-mbx2"
TOOK = 40 * MINUTE
# a delivery is logged so much after its message was accepted
DELIVERED_MS = 2 * SECOND - 50
LOG = f"logs/{OLD}/CONNECTLOG20260105-1.LOG"


def _takes(run: Run, at_ms: int = TOOK, copy: str = OLD) -> Run:
    bring(run, at_ms - DELIVERED_MS, copy=copy)
    return run


def _took(*at_ms: int) -> Run:
    run = with_two_copies()
    for each in at_ms or (TOOK,):
        _takes(run, each)
    return run


def _ships(
    run: Run, stood_ms: int = TOOK + SECOND, messages: int = 1, *, lasts_ms: int | None = MINUTE,
    server: str = OLD, peer: str = NEW, purpose: str = "replication", stands: bool = True,
) -> Run:  # fmt: skip
    """A session, by default for logs, with so many messages; without an end where it has none."""
    said = [(0, "+", purpose), (0, ">", "Established connection")][: 1 + stands]
    if lasts_ms is not None:
        why = "" if stands else " (Retry : connection refused)"
        said.append((lasts_ms, "-", f"Messages: {messages}{why}"))
    for after_ms, direction, text in said:
        at_ms = stood_ms + after_ms
        row = {
            "at_ms": at_ms, "session": f"out-{stood_ms}-{peer}", "source": "SMTP",
            "destination": peer, "direction": direction,
            "description": f"{text};Mono={mono(at_ms)}",
        }  # fmt: skip
        run.contacts.setdefault(server, []).append(row)
    return run


def _with_a_third_copy(run: Run) -> Run:
    copies = run.plan["topology"]["databases"][0]["copies"]
    copies.append({"server": THIRD, "activation_preference": 3, "replay_lag_time_ms": 0})
    return run


def _cut(run: Run, start: int, end: int, service: str = "replication") -> Run:
    run.cut(OLD, NEW, start, end)
    run.plan["faults"][-1]["links"][0]["service"] = service
    return run


def _killed(run: Run, server: str, start: int, lasts_ms: int = MINUTE) -> Run:
    run.kill(server, start, start + lasts_ms)
    return run


def _away(kind: str, server: str = OLD) -> Run:
    run = _took()
    run.away(kind, server, TOOK - MINUTE, TOOK - SECOND)
    return run


def _says(run: Run, server: str, event: str, at_ms: int) -> Run:
    run.life(server, event, at_ms, database="DB1", epoch=0, last_log=1)
    return run


def _activated() -> Run:
    """The other copy takes mail, and what was shipped before does not count for it."""
    run = _ships(_took(2 * MINUTE), 2 * MINUTE)
    activate(run, orderly=True, kind="switchover")
    return _takes(run, copy=NEW)


def _killed_in_a_session_of_its_start() -> Run:
    """The lab sees that the server is back only when a session for logs stands already; the server
    is killed before that session ends.
    """
    back = TOOK - MINUTE
    run = _took()
    run.away("restart", OLD, back - 3 * SECOND, back)
    run.life(OLD, "configured", back)
    return _ships(run, back + SECOND, messages=0, lasts_ms=None)


def _backlog(run: Run) -> Run:
    """What was taken while the link was cut goes when it is healed."""
    return _ships(_cut(run, TOOK - MINUTE, TOOK + 10 * MINUTE), TOOK + 11 * MINUTE)


def _torn() -> Run:
    run = _took()
    run.tail[LOG] = "2026-01-05T0"
    return run


def _starts_unknown() -> Run:
    run = _took()
    run.lifecycle.pop(OLD)
    return run


BEFORE, AFTER = TOOK - 10 * MINUTE, TOOK + 10 * MINUTE
HOLDS = {
    "soon": (_ships(_took()), 1),
    "as-late-as-may-be": (_ships(_took(), TOOK + SHIPPED_WITHIN), 1),
    "in-a-session-that-stood": (_ships(_took(), TOOK - MINUTE, lasts_ms=5 * MINUTE), 1),
    "several-at-once": (_ships(_took(TOOK, TOOK + 1, TOOK + SECOND), messages=3), 3),
    "in-two-sessions": (_ships(_ships(_took(BEFORE, TOOK)), BEFORE), 2),
    "one-refused": (_ships(_took(), messages=2), 1),
    "two-passive-copies": (_ships(_ships(_with_a_third_copy(_took())), peer=THIRD), 2),
    "activated": (_ships(_activated(), server=NEW, peer=OLD), 2),
    "after-a-kill": (_ships(_killed(_took(), OLD, BEFORE)), 1),
    "behind-for-a-while": (_ships(_takes(_backlog(_took()), 2 * HOUR), 2 * HOUR), 1),
    "smtp-cut": (_cut(_ships(_took()), BEFORE, AFTER, "smtp"), 1),
    "seeded": (_ships(_says(_took(BEFORE, TOOK), NEW, "copy-seeded-here", BEFORE + MINUTE)), 1),
    "last-one-has-no-end": (_ships(_ships(_took()), AFTER, lasts_ms=None), 1),
}
VIOLATED = {
    "never": (_took(), 1),
    "too-late": (_ships(_took(), TOOK + SHIPPED_WITHIN + 1), 1),
    "one-of-three": (_ships(_took(TOOK, TOOK + 1, TOOK + SECOND), messages=2), 1),
    "one-of-two-copies": (_ships(_with_a_third_copy(_took()), peer=THIRD), 1),
    "never-stood": (_ships(_took(), stands=False), 1),
    "from-the-other": (_ships(_took(), server=NEW, peer=OLD), 1),
    "for-mail": (_ships(_took(), purpose="delivery"), 1),
    "activated": (_activated(), 1),
    "after-a-kill": (_killed(_took(), OLD, BEFORE), 1),
    "after-a-kill-of-the-other": (_killed(_took(), NEW, BEFORE - 10 * MINUTE), 1),
    # five minutes, as long again, and the timeout, are over a minute before
    "caught-up": (_cut(_took(), TOOK - TIMEOUT - 11 * MINUTE, TOOK - TIMEOUT - 6 * MINUTE), 1),
    "smtp-cut": (_cut(_took(), BEFORE, AFTER, "smtp"), 1),
    "shipped-before-a-seed": (
        _says(_ships(_took(), BEFORE - 10 * MINUTE), NEW, "copy-seeded-here", BEFORE),
        1,
    ),
    "seeded-long-before": (_says(_took(), NEW, "copy-seeded-here", BEFORE), 1),
    "passive-long-before": (_says(_took(), OLD, "copy-passive", BEFORE), 1),
    "the-other-one-passive": (_says(_took(), NEW, "copy-passive", TOOK + SECOND), 1),
    "failed-and-seeded": (
        _says(_says(_took(), NEW, "copy-failed", BEFORE), NEW, "copy-seeded-here", BEFORE + 1),
        1,
    ),
}
NOT_ASKED = {
    "one-copy": healthy(),
    "nothing-taken": with_two_copies(),
    "run-over": _took(END - SHIPPED_WITHIN + 1),
    "cut": _cut(_took(), TOOK + SECOND, TOOK + MINUTE),
    # ten minutes; neither as long again nor the timeout alone lasts until then
    "catching-up": _cut(_took(), TOOK - 21 * MINUTE, TOOK - TIMEOUT - MINUTE),
    "killed": _killed(_took(), OLD, TOOK + SECOND),
    "killed-for-long": _killed(_took(), OLD, TOOK + SECOND, 10 * MINUTE),
    "killed-the-other": _killed(_took(), NEW, TOOK + SECOND),
    "paused": _away("pause"),
    "paused-the-other": _away("pause", NEW),
    "disk-full": _away("fill_disk"),
    "mounted-after": _says(_took(), NEW, "database-mounted", TOOK + SECOND),
    "passive-after": _says(_took(), OLD, "copy-passive", TOOK + SECOND),
    "seeded-after": _says(_took(), OLD, "copy-seeded", TOOK + MINUTE),
    "failed": _says(_took(), NEW, "copy-failed", BEFORE),
    "no-end": _ships(_took(), messages=0, lasts_ms=None),
    "no-end-of-one-of-its-start": _killed_in_a_session_of_its_start(),
    "torn": _torn(),
    "starts-unknown": _starts_unknown(),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return made(asked | NOT_ASKED)


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", HOLDS[name][1]), result.examples
    assert result.proofs == {"TP-4": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", VIOLATED[name][1]), result
    assert result.proofs == {"TP-4": "violated"}


def test_says_what_was_taken_and_how_much_was_carried(results: Results) -> None:
    (example, *_) = results["violated-one-of-three"].examples
    assert example.subject == "<m000003.calm.7@outside.example> for lyo-mbx1"
    assert example.detail == (
        "par-mbx2 took it into DB1 at 0:40:01.000, delivery 3 since 0:00:00.000; replication "
        "sessions to lyo-mbx1 that stood by 0:42:52.400 carried 2"
    )
    files = [file for file, _ in example.refs]
    assert files == [f"logs/{OLD}/MSGTRK2026010508-1.LOG", LOG]


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_logs_could_not_go_or_are_not_known(name: str, results: Results) -> None:
    assert results[name].asked_nothing
