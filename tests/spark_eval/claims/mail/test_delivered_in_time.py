from __future__ import annotations

import pytest

from spark_eval.claims.mail.delivered_in_time import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import MOUNTED, lossy
from tests.spark_eval.runs.run_builder import (
    HOUR,
    MINUTE,
    SECOND,
    TIMEOUT,
    Message,
    Run,
    apart,
    empty,
    healthy,
    mono,
    user,
)

ACCEPTED = 500  # lab ms from a submission to RECEIVE
# a glitch, two wall seconds, five times the resolution, five times what senders waited
BASE = MINUTE + 2 * MINUTE + 5 * 900 + 5 * 900
OUTSIDE, OTHER = "someone@partner.example", "other@partner.example"


def _arrive(run: Run, message: Message, at_ms: int) -> None:
    """In the mailbox, or outside, at that time."""
    run.finish(message, at_ms + 50)


def _delivered(at_ms: int, *recipients: str, sent_ms: int = MINUTE) -> Run:
    """One message, in its mailboxes at that time."""
    run = empty()
    _arrive(run, run.accept(sent_ms, list(recipients or [user(1)])), at_ms)
    return run


def _one_late() -> Run:
    """Of two recipients: the other one's copy came in time."""
    run = _delivered(MINUTE + 2 * SECOND, user(1), user(2))
    run.mailboxes["DB1"][1]["delivered_ms"] = 6 * MINUTE
    return run


def _cut(
    at_ms: int, *, kind: str = "refuse", link: tuple[str, str] = ("par-mbx1", "par-mbx2")
) -> Run:
    """Sent at 10 min while its way was cut, from 9 min to 14 min."""
    run = _delivered(at_ms, sent_ms=10 * MINUTE)
    run.cut(*link, 9 * MINUTE, 14 * MINUTE, kind=kind)
    return run


def _queued_up(at_ms: int) -> Run:
    """As one of three messages in nine minutes, for each of which its sender waits 0.9 s."""
    run = empty()
    for sent_ms in (MINUTE, 2 * MINUTE):
        _arrive(run, run.accept(sent_ms, [user(2)]), sent_ms + 2 * SECOND)
    _arrive(run, run.accept(10 * MINUTE, [user(1)]), at_ms)
    run.cut("par-mbx1", "par-mbx2", 9 * MINUTE, 14 * MINUTE)
    return run


def _flapping(at_ms: int) -> Run:
    """A second cut before the wait after the first one is over: they are one."""
    run = _cut(at_ms)
    run.cut("par-mbx1", "par-mbx2", 20 * MINUTE, 28 * MINUTE, fault="f2")
    return run


def _restarted(at_ms: int) -> Run:
    """Its server died with it at 10 min, and was back at 15 min and 3 s."""
    run = _delivered(at_ms, sent_ms=10 * MINUTE - SECOND)
    run.kill("par-mbx1", 10 * MINUTE, 15 * MINUTE)
    return run


def _greylisted(at_ms: int, *, recipient: str = OUTSIDE) -> Run:
    """Put off at once, after 1 min, and so on: four glitches, then a transient failure."""
    run = empty()
    message = run.accept(MINUTE, [recipient], mail="outbound")
    for number in range(5):
        run.log("par-mbx1", "DEFER", "QUEUE", MINUTE + ACCEPTED + number * MINUTE, message,
                source_context="451 4.7.1 greylisted")  # fmt: skip
    _arrive(run, message, at_ms)
    return run


def _of_the_lab(run: Run) -> Run:
    """Its servers outside put nothing off."""
    run.plan["messages"] = [{"message_id": run.ledger[0]["message_id"]}]
    return run


def _behind(at_ms: int, *, sent_between: bool = False) -> Run:
    """Accepted before the queue's fifth deferral in a row, which was another message's; with
    `sent_between` that one was the first since something was sent.
    """
    run = _greylisted(9 * MINUTE)
    if sent_between:
        sent_ms = 4 * MINUTE + 30 * SECOND
        _arrive(run, run.accept(sent_ms, [OUTSIDE], mail="outbound"), sent_ms + 2 * SECOND)
    _arrive(run, run.accept(4 * MINUTE, [OTHER], mail="outbound"), at_ms)
    return run


def _crossing(taken_ms: int, delivered_ms: int) -> Run:
    """From Paris to a server in Lyon, which is no part of the DAG, and into DB2."""
    run = empty()
    apart(run)
    first = run.accept(MINUTE, [user(1, "db2")], shadow="par-mbx2")
    run.cross(first, taken_ms)
    run.mailboxes["DB2"].append(
        {"mailbox": user(1, "db2"), "message_id": first.message_id, "submitted_ms": MINUTE,
         "delivered_ms": delivered_ms, "size_bytes": 4096, "server": "lyo-mbx2"}
    )  # fmt: skip
    return run


def _still(*, waiting: bool) -> Run:
    """For five minutes no server wrote a line; meanwhile a sender waited for its 250, or none."""
    run = _delivered(6 * MINUTE + 5 * SECOND)
    for number in range(1, 4):
        run.finish(run.accept(10 * number * SECOND, [user(3)]), 10 * number * SECOND + 2 * SECOND)
    if waiting:
        run.attempt(run.submit(MINUTE, [user(2)]), "par-mbx1", MINUTE, "ok", None, 6 * MINUTE)
    return run


def _promoted(at_ms: int) -> Run:
    """At 40 min, when its shadow server took over and first tried to make it redundant anew."""
    run = empty()
    message = run.accept(9 * MINUTE, [user(3)])
    run.kill("par-mbx1", 10 * MINUTE, 2 * HOUR, new_database=True)
    run.promote(message, 40 * MINUTE, "resubmit-time-span")
    run.mailboxes["DB1"][0]["delivered_ms"] = at_ms
    return run


def _given_up(at_ms: int, *recipients: str) -> Run:
    """Then, for these of two; both see it after an hour, by whoever else had it."""
    run = empty()
    message = run.accept(MINUTE, [user(1), user(2)])
    run.log("par-mbx1", "FAIL", "QUEUE", at_ms, message, recipients=list(recipients),
            recipient_status="550 4.4.7 QUEUE.Expired")  # fmt: skip
    run.show(message, HOUR)
    return run


def _given_back(at_ms: int) -> Run:
    told = lossy()
    for row in (*told.run.rows("lyo-mbx1", "DELIVER"), *told.run.mailboxes["DB1"]):
        if told.lost.message_id in (row.get("message-id"), row.get("message_id")):
            row.update({"at_ms": at_ms, "delivered_ms": at_ms})
            row.get("custom", {}).update(Mono=mono(at_ms))
    return told.run


def _reminded(at_ms: int, *, moved: bool = True) -> Run:
    """par-mbx1 comes back at 41 min with a new queue database, in which no failover stands."""
    run = lossy().run if moved else empty()
    run.kill("par-mbx1", 40 * MINUTE, 41 * MINUTE, new_database=True)
    _arrive(run, run.accept(42 * MINUTE, [user(3)], shadow="par-mbx2"), at_ms)
    return run


def _no_resolution() -> Run:
    run = _delivered(HOUR)
    run.host = {"clock_resolution_ms": None}
    return run


SINCE = MINUTE + ACCEPTED
FIFTH = SINCE + 4 * MINUTE
CUT_OVER = 14 * MINUTE + 200  # and refused attempts had gone on for 5 min and more: RT-5
QUEUED = (CUT_OVER + TIMEOUT - 9 * MINUTE) * 3 * 900 // (9 * MINUTE)
# five minutes and an answer after its new database was made, the next attempt and what queued up
REMINDED = 59 * MINUTE + 16 * SECOND + 191
RUNS = {
    "healthy": healthy,
    "in-time": lambda: _delivered(SINCE + BASE),
    "late": lambda: _delivered(SINCE + BASE + 1),
    "five-minutes-late": lambda: _delivered(6 * MINUTE + 2 * SECOND),
    "one-late": _one_late,
    "cut": lambda: _cut(CUT_OVER + TIMEOUT + 5 * MINUTE + BASE),
    "cut-late": lambda: _cut(CUT_OVER + TIMEOUT + 5 * MINUTE + BASE + 1),
    "queued-up": lambda: _queued_up(CUT_OVER + TIMEOUT + 5 * MINUTE + QUEUED + BASE),
    "queued-up-late": lambda: _queued_up(CUT_OVER + TIMEOUT + 5 * MINUTE + QUEUED + BASE + 1),
    "cut-elsewhere": lambda: _cut(20 * MINUTE, link=("lyo-mbx1", "par-mbx2")),
    "flapping": lambda: _flapping(28 * MINUTE + 200 + TIMEOUT + 5 * MINUTE + BASE),
    "flapping-late": lambda: _flapping(28 * MINUTE + 200 + TIMEOUT + 5 * MINUTE + BASE + 1),
    "restarted": lambda: _restarted(15 * MINUTE + 3 * SECOND + BASE),
    "restarted-late": lambda: _restarted(15 * MINUTE + 3 * SECOND + BASE + 1),
    "greylisted": lambda: _greylisted(SINCE + 9 * MINUTE + BASE),
    "greylisted-late": lambda: _greylisted(SINCE + 9 * MINUTE + BASE + 1),
    "greylisted-by-the-lab": lambda: _of_the_lab(_greylisted(SINCE + BASE + 1)),
    "behind": lambda: _behind(FIFTH + 5 * MINUTE + BASE),
    "behind-late": lambda: _behind(FIFTH + 5 * MINUTE + BASE + 1),
    "behind-sent": lambda: _behind(FIFTH + MINUTE + BASE, sent_between=True),
    "behind-sent-late": lambda: _behind(FIFTH + MINUTE + BASE + 1, sent_between=True),
    "put-off-inside": lambda: _greylisted(SINCE + 9 * MINUTE, recipient=user(1)),
    "crossing": lambda: _crossing(MINUTE + SECOND, MINUTE + 2 * SECOND),
    "crossing-late": lambda: _crossing(10 * MINUTE, 10 * MINUTE + SECOND),
    "arriving-late": lambda: _crossing(MINUTE + SECOND, 10 * MINUTE),
    "still": lambda: _still(waiting=True),
    "silent": lambda: _still(waiting=False),
    "promoted": lambda: _promoted(50 * MINUTE + BASE),
    "promoted-late": lambda: _promoted(50 * MINUTE + BASE + 1),
    "reminded": lambda: _reminded(REMINDED),
    "reminded-late": lambda: _reminded(REMINDED + 1),
    "nothing-to-remind-of": lambda: _reminded(REMINDED, moved=False),
    "given-up": lambda: _given_up(20 * MINUTE, user(1), user(2)),
    "given-up-for-one": lambda: _given_up(20 * MINUTE, user(2)),
    "given-up-for-one-later": lambda: _given_up(HOUR, user(2)),
    "given-back-late": lambda: _given_back(MOUNTED + HOUR),
    "no-resolution": _no_resolution,
    "nothing": empty,
}


def runs() -> dict[str, Run]:
    return {name: make() for name, make in RUNS.items()}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("healthy", 9), ("in-time", 1), ("cut", 1), ("queued-up", 3), ("flapping", 1),
        ("restarted", 1), ("greylisted", 1), ("behind", 2), ("behind-sent", 3),
        ("crossing", 2), ("still", 4), ("promoted", 2),
    ],
)  # fmt: skip
def test_holds(results: Results, name: str, asked: int) -> None:
    told = results[name]
    assert (told.status, told.asked) == ("holds", asked), told
    assert told.proofs == {"RT-5": "holds"}


@pytest.mark.parametrize(
    "name",
    [
        "late", "five-minutes-late", "one-late", "cut-late", "queued-up-late", "cut-elsewhere",
        "flapping-late", "restarted-late", "greylisted-late", "greylisted-by-the-lab",
        "behind-late",
        "behind-sent-late", "put-off-inside", "crossing-late",
        "arriving-late", "silent", "promoted-late", "reminded-late", "nothing-to-remind-of",
    ],
)  # fmt: skip
def test_is_violated(results: Results, name: str) -> None:
    assert results[name].violations == 1
    assert results[name].proofs == {"RT-5": "violated"}


def test_a_server_with_a_new_queue_database_is_reminded_which_copy_is_active(
    results: Results,
) -> None:
    assert results["reminded"].violations == 0


def test_what_was_given_up_before_it_arrived_is_not_asked(results: Results) -> None:
    assert results["given-up"].asked_nothing
    assert (results["given-up-for-one"].asked, results["given-up-for-one"].violations) == (1, 1)
    assert results["given-up-for-one-later"].violations == 2


def test_what_a_safety_net_gave_back_is_due_anew(results: Results) -> None:
    assert results["given-back-late"].violations == 2  # recipients
    [first, *_] = results["given-back-late"].examples
    assert first.detail.startswith("par-mbx1 had it for db1-user01@shadowlab.example from 0:20:30")


def test_says_since_when_and_by_when(results: Results) -> None:
    assert results["late"].examples[0].detail == (
        f"par-mbx1 had it for {user(1)} from 0:01:00.500 on; it arrived at 0:04:09.501, due by "
        "0:04:09.500"
    )


def test_is_unknown_where_nothing_was_asked(results: Results) -> None:
    told = results["nothing"]
    assert (told.status, told.asked, told.reason) == ("unknown", 0, "nothing was asked")


def test_is_unknown_where_the_clock_s_resolution_is(results: Results) -> None:
    told = results["no-resolution"]
    assert (told.status, told.violations, told.unknown) == ("unknown", 0, 1)
