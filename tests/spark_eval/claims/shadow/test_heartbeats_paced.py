from __future__ import annotations

import pytest

from spark_eval.claims.shadow.heartbeats_paced import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    HEARTBEAT,
    HOUR,
    MINUTE,
    SECOND,
    SPAN,
    Run,
    empty,
    healthy,
    user,
)

SERVER, PRIMARY, OTHER = "lyo-mbx1", "par-mbx1", "par-mbx2"
BEGAN = 20 * MINUTE
# a quarter of a wall second at 60 times its speed, and five times the clock's resolution of 900 ms
VAGUE = 15 * SECOND + 4_500
EARLY = HEARTBEAT - VAGUE - 1
# a wall second: by then the row of a shadow message that came is in the log
EXCHANGE = MINUTE


def _run() -> Run:
    """Contact was not long ago."""
    run = empty()
    run.life(SERVER, "started", SECOND, database_id=run.database_ids[SERVER])
    run.contact(SERVER, PRIMARY, BEGAN - 5 * MINUTE)
    return run


def _beats(*waits_ms: int) -> Run:
    """Sessions opened for a heartbeat, so long after one another."""
    run, at_ms = _run(), BEGAN
    for wait_ms in waits_ms:
        at_ms += wait_ms
        run.begin(SERVER, PRIMARY, at_ms)
    return run


def _failed() -> Run:
    """An attempt that failed at once is no leave to try again."""
    run = _beats(0, 5 * SECOND)
    run.contact(SERVER, PRIMARY, BEGAN + SECOND, failed=True)
    return run


def _hang(*waits_ms: int) -> Run:
    """All of them do, until their time-out."""
    run, at_ms = _beats(*waits_ms), BEGAN
    for wait_ms in waits_ms:
        at_ms += wait_ms
        run.contact(SERVER, PRIMARY, at_ms + 10 * MINUTE, failed=True, asked_ms=at_ms)
    return run


def _left_out(wait_ms: int, *answered_ms: int, held: bool = True) -> Run:
    """Two heartbeats, so long after one another, and questions that were answered in between."""
    run = _beats(0, wait_ms)
    for at_ms in answered_ms:
        run.contact(SERVER, PRIMARY, BEGAN + at_ms)
    if held:
        run.accept(BEGAN - 10 * MINUTE, [user(1)], PRIMARY, SERVER)
    return run


def _two_primaries() -> Run:
    run = _beats(0)
    run.begin(SERVER, OTHER, BEGAN + SECOND)
    return run


def _mail_between() -> Run:
    """It asks in a session for mail and in one of its own when a heartbeat is over."""
    run = _beats(0, HEARTBEAT)
    run.session(SERVER, PRIMARY, BEGAN + HEARTBEAT - 5 * SECOND, asks_after_ms=10)
    return run


def _pooled() -> Run:
    """Questions in a session that stands open."""
    run = _beats(0, HEARTBEAT)
    for second in (1, 10, 20):
        run.contact(SERVER, PRIMARY, BEGAN + second * SECOND)
    return run


def _full_answer() -> Run:
    """The rest can be asked for in the same session."""
    run = _beats(0, 5 * SECOND)
    run.contact(SERVER, PRIMARY, BEGAN + SECOND, notifications=200)
    return run


def _restarted() -> Run:
    run = _beats(0, 30 * SECOND)
    run.life(SERVER, "started", BEGAN + 20 * SECOND, database_id=run.database_ids[SERVER])
    return run


def _away(kind: str) -> Run:
    run = _beats(0, 30 * SECOND)
    run.away(kind, SERVER, BEGAN + SECOND, BEGAN + 20 * SECOND)
    return run


def _silent_before(at_ms: int) -> Run:
    """Two attempts, of which the second is begun then; no contact for hours."""
    run = empty()
    run.life(SERVER, "started", SECOND, database_id=run.database_ids[SERVER])
    run.contact(SERVER, PRIMARY, 2 * SECOND)
    run.begin(SERVER, PRIMARY, at_ms - 5 * SECOND)
    run.begin(SERVER, PRIMARY, at_ms)
    return run


def _span_over(after_ms: int, *contacts_ms: int) -> Run:
    """The last contact was `after_ms` before the second of two attempts, or else when it says."""
    run = _silent_before(BEGAN + after_ms)
    for at_ms in (BEGAN, *contacts_ms):
        run.contact(SERVER, PRIMARY, at_ms)
    return run


CAME = 2 * HOUR


def _message_came(before_ms: int, *contacts_ms: int, primary: str = PRIMARY) -> Run:
    """A shadow message came so long before the second of two attempts, by its row."""
    run = _silent_before(CAME + before_ms)
    run.accept(CAME - 300, [user(1)], primary, SERVER)
    for at_ms in contacts_ms:
        run.contact(SERVER, PRIMARY, at_ms)
    return run


def _left(
    after_ms: int = 0,
    *,
    span_over_before_ms: int = -10 * SECOND,
    primary: str = PRIMARY,
    event: str = "shadow-expired",
) -> Run:
    """An older shadow message leaves so long after the second of two attempts, of which the first
    is begun `span_over_before_ms` after the span of the other one was over.
    """
    run = empty()
    run.life(SERVER, "started", SECOND, database_id=run.database_ids[SERVER])
    older = run.accept(CAME - HOUR, [user(1)], primary, SERVER)
    older_id = 1000 + older.internal_id
    run.accept(CAME - 300, [user(1)], PRIMARY, SERVER)
    first_ms = CAME + SPAN + span_over_before_ms
    run.begin(SERVER, PRIMARY, first_ms)
    run.begin(SERVER, PRIMARY, first_ms + MINUTE)
    run.life(SERVER, event, first_ms + MINUTE + after_ms, internal_id=older_id)
    return run


def _killed_before(at_ms: int) -> Run:
    """What came in the moment before is in no log."""
    run = _silent_before(at_ms)
    run.kill(SERVER, CAME, CAME + MINUTE)
    return run


def _starts_unknown() -> Run:
    run = _beats(0, 5 * SECOND)
    run.lifecycle.pop(SERVER)
    return run


def _own_frequency() -> Run:
    run = _beats(0, 30 * SECOND, 30 * SECOND)
    run.plan["settings"]["TransportConfig"]["ShadowHeartbeatFrequency"] = 30 * SECOND
    return run


def _too_often_to_tell() -> Run:
    run = _beats(0, SECOND)
    run.plan["settings"]["TransportConfig"]["ShadowHeartbeatFrequency"] = VAGUE
    return run


HOLDS = {
    "one-a-heartbeat": (_beats(0, *[HEARTBEAT] * 3), 3),
    "as-early-as-may-be": (_beats(0, HEARTBEAT - VAGUE), 1),
    "mail-between": (_mail_between(), 1),
    "pooled": (_pooled(), 1),
    "beside-those-that-hang": (_hang(0, HEARTBEAT, HEARTBEAT), 2),
    "nearly-one-left-out": (_left_out(2 * HEARTBEAT + VAGUE), 1),
    "left-out-with-nothing-held": (_left_out(4 * HEARTBEAT, held=False), 1),
    "asked-otherwise": (_left_out(4 * HEARTBEAT, HEARTBEAT, 2 * HEARTBEAT), 1),
    "own-frequency": (_own_frequency(), 2),
}
VIOLATED = {
    "every-five-seconds": (_beats(0, *[5 * SECOND] * 4), 4),
    "a-little-early": (_beats(0, EARLY), 1),
    "one-of-four-early": (_beats(0, HEARTBEAT, MINUTE, HEARTBEAT, HEARTBEAT), 1),
    "failed-and-tried-at-once": (_failed(), 1),
    "too-often-beside-those-that-hang": (_hang(0, HEARTBEAT, MINUTE), 1),
    "full-answer": (_full_answer(), 1),
    "long-before-the-span-is-over": (_span_over(SPAN - MINUTE), 1),
    "after-the-span-was-over": (_span_over(SPAN + MINUTE), 1),
    "contact-within-the-span": (_span_over(SPAN, BEGAN + MINUTE), 1),
    "long-before-a-message-was-held-so-long": (_message_came(SPAN - EXCHANGE - VAGUE - 1), 1),
    "after-a-message-was-held-so-long": (_message_came(SPAN + MINUTE), 1),
    "contact-since-a-message-came": (_message_came(SPAN, CAME + MINUTE), 1),
    "left-long-before": (_left(-VAGUE - 1), 1),
    "left-later": (_left(1), 1),
    "left-and-the-span-was-over-before": (_left(span_over_before_ms=VAGUE + 1), 1),
    "left-another-queue": (_left(primary=OTHER), 1),
    "left-the-safety-net": (_left(event="safety-net-expired"), 1),
    "message-of-another-primary": (_message_came(SPAN, primary=OTHER), 1),
    "long-before-the-span-since-a-hole": (_killed_before(CAME + SPAN - MINUTE), 1),
    "after-the-span-since-a-hole": (_killed_before(CAME + SPAN + MINUTE), 1),
}
NOT_ASKED = {
    "all-was-well": healthy(),
    "nobody-asks": _run(),
    "asked-once": _beats(0),
    "two-primaries": _two_primaries(),
    "restarted": _restarted(),
    "paused": _away("pause"),
    "restarted-by-a-fault": _away("restart"),
    "before-a-promotion": _span_over(SPAN),
    "contact-came-meanwhile": _span_over(SPAN, BEGAN + SPAN),
    "a-message-was-held-so-long": _message_came(SPAN),
    "a-message-may-have-been-held-so-long": _message_came(SPAN - EXCHANGE - VAGUE),
    "an-older-message-left": _left(),
    "an-older-message-left-a-little-before": _left(-VAGUE),
    "the-span-was-just-over-when-an-older-message-left": _left(span_over_before_ms=VAGUE),
    "the-span-began-in-a-hole": _killed_before(CAME + SPAN),
    "starts-unknown": _starts_unknown(),
    "too-often-to-tell": _too_often_to_tell(),
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
    assert (result.status, result.asked) == ("holds", HOLDS[name][1]), result.examples
    assert result.proofs == {"SM-2": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", VIOLATED[name][1]), result
    (example, *_) = result.examples
    assert example.subject == "lyo-mbx1 and par-mbx1"
    assert {file for file, _ in example.refs} == {"logs/lyo-mbx1/CONNECTLOG20260105-1.LOG"}
    assert len(example.refs) == 2


def test_says_when_it_was_due(results: Results) -> None:
    (example, *_) = results["violated-a-little-early"].examples
    assert example.detail == (
        "lyo-mbx1 opened a session to par-mbx1 only to ask at 0:21:40.499, after one at "
        "0:20:00.000; not due before 0:22:00.000"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_there_may_be_a_reason_to_ask_again(name: str, results: Results) -> None:
    assert results[name].asked_nothing
