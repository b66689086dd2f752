from __future__ import annotations

import pytest

from spark_eval.claims.node.sessions_ended import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    END,
    HOUR,
    MINUTE,
    SECOND,
    TIMEOUT,
    Row,
    Run,
    empty,
    healthy,
    mono,
    user,
)

SERVER, PEER = "par-mbx1", "lyo-mbx1"
LOG = f"logs/{SERVER}/CONNECTLOG20260105-1.LOG"
BEGAN = 20 * MINUTE
# what a timer takes: a second, two of the wall at 60 times its speed, and the clock's resolution of
# 900 ms; and how late rows may be: a quarter of a wall second, and five times that resolution
LATE = SECOND + 120 * SECOND + 900 + 15 * SECOND + 4_500
SESSION = 10 * MINUTE
LIMIT = 2 * TIMEOUT + SESSION + LATE


def _row(at_ms: int, session: str, direction: str, said: str) -> Row:
    return {
        "at_ms": at_ms, "session": session, "source": "SMTP", "destination": PEER,
        "direction": direction, "description": f"{said};Mono={mono(at_ms)}",
    }  # fmt: skip


def _open(run: Run, at_ms: int, took_ms: int | None, name: str = "out-1") -> Run:
    """A session for a delivery, and its end where it has one."""
    rows = run.contacts.setdefault(SERVER, [])
    rows.append(_row(at_ms, name, "+", "delivery"))
    rows.append(_row(at_ms + 10, name, ">", "Established connection"))
    if took_ms is not None:
        rows.append(_row(at_ms + took_ms, name, "-", "Messages: 1"))
    return run


def _opened(took_ms: int | None) -> Run:
    return _open(empty(), BEGAN, took_ms)


def _several(*took_ms: int | None) -> Run:
    """Opened one after another, each under a name of its own."""
    run = empty()
    for number, took in enumerate(took_ms):
        _open(run, BEGAN + number * MINUTE, took, f"out-{number + 1}")
    return run


def _brought(*took_ms: int | None, run: Run | None = None) -> Run:
    """One message, made redundant and sent on, and these sessions, each with one message."""
    run = run or empty()
    run.finish(run.accept(MINUTE, [user(1)]), MINUTE + 2 * SECOND)
    run.plan["messages"] = [{"message_id": run.ledger[0]["message_id"]}]
    for number, took in enumerate(took_ms):
        _open(run, BEGAN + number * MINUTE, took, f"out-{number + 1}")
    return run


def _brought_by_logs() -> Run:
    """The second session is one for logs."""
    run = _brought(MINUTE, MINUTE)
    run.contacts[SERVER][3]["description"] = f"replication;Mono={mono(BEGAN + MINUTE)}"
    return run


def _brought_on_a_full_disk() -> Run:
    run = _brought(MINUTE)
    run.away("fill_disk", SERVER, HOUR, HOUR + MINUTE)
    return run


def _brought_before_a_kill() -> Run:
    run = _brought(MINUTE)
    run.kill(SERVER, HOUR, HOUR + MINUTE)
    return run


def _brought_elsewhere() -> Run:
    """In a record that the lab did not make."""
    run = _brought(MINUTE)
    run.plan["messages"] = []
    return run


def _name_used_again(*, ends: bool) -> Run:
    run = _open(empty(), BEGAN, MINUTE if ends else None)
    return _open(run, BEGAN + 5 * MINUTE, MINUTE)


def _longer_at_the_peer(took_ms: int) -> Run:
    run = _opened(took_ms)
    settings = run.plan["settings"]["servers"][PEER]
    settings["ReceiveConnector"]["ConnectionTimeout"] = 2 * SESSION
    return run


def _failed_question() -> Run:
    """The end of a heartbeat is none of a session."""
    run = _opened(None)
    run.contact(SERVER, PEER, BEGAN + MINUTE, failed=True, session="out-1")
    return run


def _ended_by_another() -> Run:
    run = _opened(None)
    run.contacts["par-mbx2"] = [_row(BEGAN + MINUTE, "out-1", "-", "Messages: 1")]
    return run


def _killed(start: int) -> Run:
    run = _opened(None)
    run.kill(SERVER, start, start + MINUTE)
    return run


def _away(kind: str, took_ms: int | None = None) -> Run:
    run = _opened(took_ms)
    run.away(kind, SERVER, BEGAN + MINUTE, BEGAN + 5 * MINUTE)
    return run


def _peer_killed() -> Run:
    run = _opened(None)
    run.kill(PEER, BEGAN + MINUTE, BEGAN + 5 * MINUTE)
    return run


def _started_anew() -> Run:
    run = _opened(None)
    run.life(SERVER, "started", BEGAN + MINUTE, database_id=run.database_ids[SERVER])
    return run


def _torn_log() -> Run:
    run = _opened(None)
    run.tail[LOG] = "2026-01-05T0"
    return run


def _starts_unknown() -> Run:
    run = _opened(None)
    run.lifecycle.pop(SERVER)
    return run


HOLDS = {
    "soon": (_opened(MINUTE), 1),
    "as-late-as-may-be": (_opened(LIMIT), 1),
    "each-of-three": (_several(MINUTE, SECOND, 5 * MINUTE), 3),
    "name-used-again": (_name_used_again(ends=True), 2),
    "longer-at-the-peer": (_longer_at_the_peer(LIMIT + SESSION), 1),
    "stopped-meanwhile": (_away("stop", MINUTE), 1),
}
VIOLATED = {
    "never": (_opened(None), 1),
    "too-late": (_opened(LIMIT + 1), 1),
    "too-late-at-a-patient-peer": (_longer_at_the_peer(LIMIT + SESSION + 1), 1),
    "one-of-three": (_several(MINUTE, None, MINUTE), 1),
    "one-before-of-that-name": (_name_used_again(ends=False), 1),
    "a-question-failed": (_failed_question(), 1),
    "another-server-ended-its-own": (_ended_by_another(), 1),
    "killed-before": (_killed(BEGAN - 5 * MINUTE), 1),
    "killed-long-after": (_killed(BEGAN + LIMIT + MINUTE), 1),
    "peer-killed": (_peer_killed(), 1),
}
NOT_ASKED = {
    "nothing-opened": healthy(),
    "run-over": _open(empty(), END - LIMIT + 1, None),
    "killed": _killed(BEGAN + MINUTE),
    "paused": _away("pause"),
    "paused-and-late": _away("pause", LIMIT + MINUTE),
    "stopped": _away("stop"),
    "restarted": _away("restart"),
    "disk-full": _away("fill_disk"),
    "started-anew": _started_anew(),
    "torn-log": _torn_log(),
    "starts-unknown": _starts_unknown(),
}

CARRIED = {
    "as-many": (_brought(MINUTE, MINUTE), 0, 3),
    "one-too-few": (_brought(MINUTE), 1, 2),
    "none": (_brought(), 1, 1),
    "none-but-logs": (_brought_by_logs(), 1, 3),
    "one-without-an-end": (_brought(MINUTE, None), 1, 2),
    "disk-full": (_brought_on_a_full_disk(), 0, 1),
    "killed": (_brought_before_a_kill(), 0, 1),
    "elsewhere": (_brought_elsewhere(), 0, 1),
}


def runs() -> dict[str, Run]:
    asked = {f"carried-{name}": run for name, (run, _, _) in CARRIED.items()}
    asked |= {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return asked | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", HOLDS[name][1]), result.examples
    assert result.proofs == {"TL-4": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", VIOLATED[name][1]), result
    (example, *_) = result.examples
    assert {file for file, _ in example.refs} == {LOG}
    assert result.proofs == {"TL-4": "violated"}


@pytest.mark.parametrize("name", CARRIED)
def test_ends_say_what_was_carried(name: str, results: Results) -> None:
    _, violations, asked = CARRIED[name]
    result = results[f"carried-{name}"]
    assert (result.violations, result.asked) == (violations, asked), result.examples


def test_says_how_many_were_carried(results: Results) -> None:
    (example,) = results["carried-one-too-few"].examples
    assert example.detail == (
        "par-mbx1 logged 2 messages as sent on or made redundant; by the ends of its sessions they "
        "carried 1"
    )


def test_says_which_session_has_no_end(results: Results) -> None:
    (example, *_) = results["violated-never"].examples
    assert example.subject == "out-1 of par-mbx1"
    assert example.detail == (
        "par-mbx1 opened out-1 for delivery at 0:20:00.000, to be over by 0:52:21.400; "
        "its connectivity log has no end of it"
    )


def test_shows_the_end_that_came_too_late(results: Results) -> None:
    (example, *_) = results["violated-too-late"].examples
    assert example.detail.endswith("to be over by 0:52:21.400; it ended at 0:52:21.401")
    assert len(example.refs) == 2


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_a_session_could_still_stand(name: str, results: Results) -> None:
    assert results[name].asked_nothing
