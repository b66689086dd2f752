from __future__ import annotations

import pytest

from spark_eval.claims.mail.retries_paced import CLAIM
from spark_eval.histories.queues import NOT_ACTIVE
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.pressure.pressed_runs import operation
from tests.spark_eval.runs.run_builder import (
    MINUTE,
    SECOND,
    Message,
    Run,
    empty,
    healthy,
    user,
)

SERVER = "par-mbx1"
BEGAN = 20 * MINUTE
REFUSED, LOST = "connection refused", "ConnectionInactivityTimeOut"
# a quarter of a wall second at 60 times its speed, and five times the clock's resolution of 900 ms
VAGUE = 15 * SECOND + 4_500
EARLY = MINUTE - VAGUE - 1
# a second, two of the wall at 60 times its speed, and the clock's resolution
LATE = VAGUE + SECOND + 120 * SECOND + 900
# one attempt for each step of the ladder, with what an attempt takes
LADDER = [0, *[MINUTE] * 4, *[5 * MINUTE] * 6, 10 * MINUTE, 10 * MINUTE]


def _accepted(run: Run) -> Message:
    return run.accept(BEGAN - SECOND, [user(1)])


def _fails(
    run: Run, message: Message, opened_ms: int, ended_ms: int, reason: str = REFUSED,
    *, stands: bool = False,
) -> None:  # fmt: skip
    """A session is opened for a delivery and is given up, so the message is put off."""
    _is_given_up(run, opened_ms, ended_ms, reason, stands=stands)
    _put_off(run, message, ended_ms, reason)


def _is_given_up(
    run: Run, opened_ms: int, ended_ms: int, reason: str = REFUSED, *, stands: bool = False
) -> None:
    rows = [(opened_ms, "+", "delivery"), (ended_ms, "-", f"Messages: 0 (Retry : {reason})")]
    if stands:
        rows.insert(1, (opened_ms + 10, ">", "Established connection"))
    for at_ms, direction, text in rows:
        run.contacts.setdefault(SERVER, []).append(
            {"at_ms": at_ms, "session": f"out-{opened_ms}", "source": "SMTP",
             "destination": "par-mbx2", "direction": direction, "description": text}
        )  # fmt: skip


def _put_off(run: Run, message: Message, at_ms: int, reason: str) -> None:
    fork = {"Fork": "database:DB1"}
    run.log(SERVER, "DEFER", "QUEUE", at_ms, message, source_context=reason, custom=fork)


def _retried(*waits_ms: int, takes_ms: int = 100, stands: bool = False) -> Run:
    """Attempts that fail, each begun so long after the last one ended."""
    run, at_ms = empty(), BEGAN
    message = _accepted(run)
    for wait_ms in waits_ms:
        began_ms, at_ms = at_ms + wait_ms, at_ms + wait_ms + takes_ms
        _fails(run, message, began_ms, at_ms, stands=stands)
    return run


def _broken_off_beside_others(*waits_ms: int) -> Run:
    """Attempts that reached somebody, while another session never stood, for the same reason."""
    run = _retried(*waits_ms, stands=True)
    for row in [row for row in run.contacts[SERVER] if row["direction"] == "-"]:
        _is_given_up(run, row["at_ms"] - 99, row["at_ms"] + 1)
    return run


def _answered(*waits_ms: int, reply: str = "451 4.3.2 Not now") -> Run:
    """Attempts that are put off by who was reached."""
    run, at_ms = empty(), BEGAN
    message = _accepted(run)
    for wait_ms in waits_ms:
        at_ms += wait_ms
        _put_off(run, message, at_ms, reply)
    return run


def _by_itself(run: Run, wait_ms: int = 6 * MINUTE) -> Run:
    """What is put off waits for so long."""
    settings = run.plan["settings"].setdefault("servers", {}).setdefault(SERVER, {})
    settings["TransportService"] = {"MessageRetryInterval": wait_ms}
    return run


def _amid_others(wait_ms: int) -> Run:
    """Put off once, while other mail goes through its queue."""
    run = _answered(0, wait_ms)
    for minute in (1, 3, 5, 9):
        run.finish(run.accept(BEGAN + minute * MINUTE - SECOND, [user(2)]), BEGAN + minute * MINUTE)
    return run


def _amid_an_outage(wait_ms: int) -> Run:
    """Put off once, while its queue waits since nobody is reached."""
    run = _answered(0, wait_ms)
    other = run.accept(BEGAN + 5 * MINUTE, [user(2)])
    _fails(run, other, BEGAN + 5 * MINUTE, BEGAN + 5 * MINUTE + 100)
    return run


def _redirected_meanwhile() -> Run:
    """Put off, and tried elsewhere; what is left of that waits as its queue does."""
    run = _by_itself(_answered(0, 3 * MINUTE))
    asked_ms, agreed = BEGAN + MINUTE, "250 2.0.0 Messages are redirected"
    operation(run, "o1", "redirect_messages", asked_ms, agreed, server=SERVER, to="par-mbx2")
    run.life(SERVER, "redirection-begun", asked_ms + SECOND, server="par-mbx2", count=1)
    return run


def _delivered(wait_ms: int) -> Run:
    """After one failure."""
    run = empty()
    message = _accepted(run)
    _fails(run, message, BEGAN, BEGAN + 100)
    run.finish(message, BEGAN + 100 + wait_ms)
    return run


def _straggler() -> Run:
    """Two messages under way; the one whose attempt fails later is tried with the other again."""
    run = empty()
    first, second = _accepted(run), _accepted(run)
    for began, ended in ((0, 100), (MINUTE + 100, MINUTE + 200)):
        _fails(run, first, BEGAN + began, BEGAN + ended)
    _fails(run, second, BEGAN + 1, BEGAN + 50 * SECOND, LOST)
    _fails(run, second, BEGAN + MINUTE + 101, BEGAN + MINUTE + 300)
    return run


def _new_mail() -> Run:
    """It may try a queue that has failed."""
    run = empty()
    _fails(run, _accepted(run), BEGAN, BEGAN + 100)
    message = run.accept(BEGAN + SECOND, [user(2)])
    _fails(run, message, BEGAN + 2 * SECOND, BEGAN + 3 * SECOND)
    return run


def _restarted() -> Run:
    """It is loaded, and tried at once."""
    run = empty()
    message = _accepted(run)
    _fails(run, message, BEGAN, BEGAN + 100)
    run.log(SERVER, "LOAD", "BOOTLOADER", BEGAN + SECOND, message, source_context="delivery")
    _fails(run, message, BEGAN + 2 * SECOND, BEGAN + 3 * SECOND)
    return run


def _served_between() -> Run:
    """Five failures, a delivery of another message, two failures: the ladder begins anew."""
    run = empty()
    message = _accepted(run)
    for minute in (0, 1, 2, 3, 4, 9, 10):
        _fails(run, message, BEGAN + minute * (MINUTE + SECOND), BEGAN + minute * (MINUTE + SECOND))
        if minute == 4:
            run.finish(run.accept(BEGAN + 5 * MINUTE, [user(2)]), BEGAN + 5 * MINUTE + SECOND)
    return run


def _logged_late() -> Run:
    """A message climbs the first rungs, and the row of the first failure is late. Another one that
    comes before the last of them waits for as long.
    """
    run = empty()
    climbing = _accepted(run)
    fifth_ms = BEGAN + 4 * MINUTE - 100
    for at_ms in (BEGAN, *(BEGAN + rung * MINUTE - 100 for rung in range(1, 5))):
        _fails(run, climbing, at_ms, at_ms)
    other = run.accept(fifth_ms - SECOND, [user(2)])
    _fails(run, other, fifth_ms, fifth_ms)
    _fails(run, other, fifth_ms + 5 * MINUTE, fifth_ms + 5 * MINUTE)
    return run


def _several_copies(run: Run) -> Run:
    (first, *_) = (each for each in run.plan["topology"]["databases"] if each["name"] == "DB1")
    first["copies"].append({"server": "lyo-mbx2"})
    return run


def _own_ladder(run: Run) -> Run:
    settings = run.plan["settings"].setdefault("servers", {}).setdefault(SERVER, {})
    settings["TransportService"] = {"QueueGlitchRetryInterval": 10 * SECOND}
    return run


def _hole(run: Run) -> Run:
    """Killed in the middle of it; what it logged just before is lost."""
    run.kill(SERVER, BEGAN + 200, BEGAN + MINUTE)
    return run


def _beside(minute: int, *, passes: bool = False) -> Run:
    """The only retry is late, and another message of the queue is tried at that minute."""
    run = _retried(0, 10 * MINUTE)
    other = run.accept(BEGAN - SECOND, [user(2)])
    at_ms = BEGAN + minute * MINUTE
    if passes:
        run.finish(other, at_ms)
    else:
        _fails(run, other, at_ms, at_ms + 100)
    return run


def _to_another_boundary() -> Run:
    run = _retried(0, 10 * MINUTE)
    for row in run.rows(SERVER, "DEFER"):
        row["custom"]["Fork"] = "site:lyon"
    return run


def _away(kind: str) -> Run:
    run = _retried(0, 10 * MINUTE)
    run.away(kind, SERVER, BEGAN + 2 * MINUTE, BEGAN + 3 * MINUTE)
    return run


def _cut(end_ms: int) -> Run:
    """It is delivered late; until when the link was cut."""
    run = _delivered(10 * MINUTE)
    run.cut(SERVER, "par-mbx2", BEGAN - MINUTE, end_ms)
    return run


def _together() -> Run:
    """Two messages that fail at once are one failure of their queue."""
    run = empty()
    messages: list[Message] = [_accepted(run) for _ in range(3)]
    for minute in (0, 1, 2, 7):
        for message in messages:
            _fails(run, message, BEGAN + minute * MINUTE, BEGAN + minute * MINUTE + 100)
    return run


HOLDS = {
    "by-the-ladder": (_retried(*LADDER), 12),
    "as-early-as-may-be": (_retried(0, MINUTE - VAGUE), 1),
    "put-off-by-the-minute": (_answered(0, *[MINUTE] * 8), 8),
    "put-off-by-its-own-interval": (_by_itself(_answered(0, *[6 * MINUTE] * 3)), 3),
    "as-early-as-one-put-off-may-be": (_by_itself(_answered(0, 6 * MINUTE - VAGUE)), 1),
    "a-421-is-its-queue-s": (_by_itself(_answered(0, MINUTE, reply="421 4.4.2 Bye")), 1),
    "not-active-there-is-its-queue-s": (_by_itself(_answered(0, MINUTE, reply=NOT_ACTIVE)), 1),
    "broken-off-by-the-minute": (_retried(0, *[MINUTE] * 8, stands=True), 8),
    "broken-off-beside-others": (_broken_off_beside_others(0, *[MINUTE] * 8), 8),
    "delivered-in-time": (_delivered(MINUTE), 1),
    "straggler": (_straggler(), 2),
    "served-between": (_served_between(), 6),
    "own-ladder": (_own_ladder(_retried(0, 10 * SECOND, 10 * SECOND)), 2),
}
VIOLATED = {
    "every-second": (_retried(0, *[SECOND] * 3), 3),
    "a-little-early": (_retried(0, EARLY), 1),
    "early-attempt-that-hangs": (_retried(0, SECOND, takes_ms=10 * MINUTE), 1),
    "never-climbs": (_retried(0, *[MINUTE] * 5), 1),
    "never-to-the-top": (_retried(*LADDER[:11], 5 * MINUTE), 1),
    "broken-off-and-tried-at-once": (_retried(0, SECOND, stands=True), 1),
    "put-off-and-tried-at-once": (_answered(0, SECOND), 1),
    "one-put-off-a-little-early": (_by_itself(_answered(0, 6 * MINUTE - VAGUE - 1)), 1),
    "one-put-off-as-its-queue-waits": (_by_itself(_answered(0, *[MINUTE] * 3)), 3),
    "delivered-too-early": (_delivered(SECOND), 1),
}
NOT_ASKED = {
    "all-was-well": healthy(),
    "nothing-sent": empty(),
    "tried-once": _retried(0),
    "new-mail": _new_mail(),
    "restarted": _restarted(),
    "several-copies": _several_copies(_retried(0, SECOND)),
    "hole": _hole(_retried(0, SECOND)),
    "redirected-meanwhile": _redirected_meanwhile(),
}
IN_TIME = {
    "as-late-as-may-be": _retried(0, MINUTE + LATE),
    "one-put-off-as-late-as-may-be": _by_itself(_amid_others(6 * MINUTE + LATE)),
    "one-put-off-whose-queue-waits": _by_itself(_amid_an_outage(6 * MINUTE + LATE + 1)),
    "another-was-tried": _beside(1),
    "another-went-through": _beside(1, passes=True),
    "to-another-boundary": _to_another_boundary(),
    "paused": _away("pause"),
    "disk-full": _away("fill_disk"),
    "in-time": _delivered(MINUTE),
    "held-up-by-a-cut": _cut(BEGAN + 9 * MINUTE),
    "at-the-next-rung": _retried(0, *[MINUTE] * 4, 5 * MINUTE + LATE),
    "at-the-next-rung-after-one-that-was-logged-late": _logged_late(),
}
TOO_LATE = {
    "a-little-late": _retried(0, MINUTE + LATE + 1),
    "late-at-the-next-rung": _retried(0, *[MINUTE] * 4, 5 * MINUTE + LATE + 1),
    "one-put-off-a-little-late": _by_itself(_amid_others(6 * MINUTE + LATE + 1)),
    "late-at-the-end": _retried(*LADDER, 10 * MINUTE + LATE + 1),
    "another-was-tried-later": _beside(11),
    "delivered-late": _delivered(10 * MINUTE),
    "the-cut-was-over": _cut(BEGAN + 30 * SECOND),
    "fails-together": _together(),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return asked | NOT_ASKED | IN_TIME | TOO_LATE


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", HOLDS[name][1]), result.examples
    assert result.proofs == {"RT-5": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", VIOLATED[name][1]), result
    (example, *_) = result.examples
    assert "par-mbx1 tries database:DB1 again at " in example.detail
    assert {file.rpartition("/")[2][:6] for file, _ in example.refs} == {"MSGTRK"}
    assert len(example.refs) == 2


def test_says_when_it_may_have_begun(results: Results) -> None:
    (example, *_) = results["violated-a-little-early"].examples
    assert example.detail.endswith(
        "again at 0:20:40.599; after the failure at 0:20:00.100 not before 0:21:00.100"
    )


@pytest.mark.parametrize("name", IN_TIME)
def test_a_retry_in_time_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples


@pytest.mark.parametrize("name", TOO_LATE)
def test_a_retry_that_comes_late_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated", results[name]


def test_says_by_when_it_had_to_begin(results: Results) -> None:
    (example,) = results["a-little-late"].examples
    assert example.detail.endswith(
        "again at 0:23:21.501; after the failure at 0:20:00.100 by 0:23:21.500"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_an_earlier_attempt_is_no_promise_broken(
    name: str, results: Results
) -> None:
    assert results[name].asked_nothing
