from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.shadow.discard_after_delivery import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import back_in_time, new_database
from tests.spark_eval.runs.run_builder import (
    HEARTBEAT,
    MINUTE,
    SECOND,
    Row,
    Run,
    empty,
    healthy,
    iso,
    mono,
    user,
)

SLOW = 7 * MINUTE
"""Two heartbeats after it was told, and within the time that an exchange has."""
DONE = MINUTE + 2 * SECOND
# a second of the wall at 60 times its speed, and the clock's resolution
NEAR = MINUTE + 900
# a minute after a disk has room, with the next heartbeat
WRITTEN = 5 * MINUTE + MINUTE + HEARTBEAT + NEAR


def _let_go_first() -> Run:
    """The shadow of the second message goes before one of its two recipients is done."""
    run = healthy()
    send = run.rows("par-mbx1", "SEND")[1]
    late = {**send, "at_ms": send["at_ms"] + 10 * MINUTE, "custom": {**send["custom"]}}
    late["custom"]["Mono"] = mono(late["at_ms"])
    send["recipient-address"], late["recipient-address"] = user(1), user(3)
    run.tracking["par-mbx1"].append(late)
    run.rows("lyo-mbx1", "HADISCARD")[1]["custom"]["DeliveredAt"] = iso(late["at_ms"])
    return run


def _let_go_never_done() -> Run:
    run = healthy()
    run.tracking["par-mbx1"].remove(run.rows("par-mbx1", "SEND")[1])
    return run


def _given_up(let_go_ms: int, *, accepted_twice: bool = False) -> Run:
    """At 30 min; its DSN is delivered at 31 min."""
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    if accepted_twice:
        run.accept(MINUTE, [user(1)], shadow=None)
        for event in ("HAREDIRECTFAIL", "RECEIVE"):
            run.rows("par-mbx1", event)[-1]["message-id"] = message.message_id
    run.heartbeats("lyo-mbx1", "par-mbx1", 2 * MINUTE, 40 * MINUTE)
    run.log("par-mbx1", "FAIL", "QUEUE", 30 * MINUTE, message)
    report = replace(message, message_id="<dsn@lab>", internal_id=run.next_id())
    run.log("par-mbx1", "DSN", "DSN", 30 * MINUTE, report, reference=message.message_id)
    run.log("par-mbx1", "SEND", "SMTP", 31 * MINUTE, report)
    message.done_ms = 30 * MINUTE
    run.let_go(message, let_go_ms)
    return run


def _made_again(*, after_a_restart: bool) -> Run:
    """One whose shadow message lyo-mbx1 keeps for ever, and another one at lyo-mbx2 that is let go
    in time.
    """
    run = _discarded_at(None)
    redirect = run.rows("par-mbx1", "HAREDIRECT")[0]
    (held,) = run.rows("lyo-mbx1", "HARECEIVE")
    made_ms = redirect["at_ms"]
    if after_a_restart:
        _again(run, "par-mbx1", redirect, "LOAD", made_ms + 20)["source-context"] = "delivery"
    again = _again(run, "par-mbx1", redirect, "HAREDIRECT", made_ms + 40)
    again["custom"]["ShadowServer"] = "lyo-mbx2"
    _again(run, "lyo-mbx2", held, "HARECEIVE", made_ms + 30)
    _again(run, "lyo-mbx2", held, "HADISCARD", 3 * MINUTE)
    run.contact("lyo-mbx2", "par-mbx1", 3 * MINUTE, notifications=1)
    return run


def _forgotten_on_a_full_disk(*, full: str = "par-mbx1", done_ms: int = 20 * MINUTE) -> Run:
    """par-mbx1 makes a shadow message at 1 min, is restarted at 10 min, and never speaks of it to
    lyo-mbx1, which asks until the end.
    """
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, done_ms)
    run.away("fill_disk", full, 30 * SECOND, 5 * MINUTE)
    run.away("restart", "par-mbx1", 10 * MINUTE, 11 * MINUTE, fault="f2")
    run.log("par-mbx1", "LOAD", "BOOTLOADER", 11 * MINUTE, message, source_context="delivery")
    run.heartbeats("lyo-mbx1", "par-mbx1", 12 * MINUTE, 50 * MINUTE)
    return run


def _done_on_a_full_disk(let_go_ms: int) -> Run:
    """Delivered while par-mbx1 cannot write it down; its disk has room from 5 min on."""
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.away("fill_disk", "par-mbx1", 90 * SECOND, 5 * MINUTE)
    run.finish(message, 2 * MINUTE)
    run.heartbeats("lyo-mbx1", "par-mbx1", 2 * MINUTE, 20 * MINUTE)
    run.let_go(message, let_go_ms)
    return run


def _again(run: Run, server: str, row: Row, event: str, at_ms: int) -> Row:
    """The same row of another time and event, in that server's log."""
    other = {**row, "event-id": event, "at_ms": at_ms}
    other["custom"] = {**row["custom"], "Mono": mono(at_ms)}
    run.tracking.setdefault(server, []).append(other)
    return other


def _discarded_at(at_ms: int | None, *, contacts_until: int = 30 * MINUTE) -> Run:
    """One message, done at 1 min 2 s; asked about at 2 min and every heartbeat after."""
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, MINUTE + 2 * SECOND)
    run.heartbeats("lyo-mbx1", "par-mbx1", 2 * MINUTE, contacts_until)
    if at_ms is not None:
        run.let_go(message, at_ms)
    return run


def _answered_late(*, asked_ms: int) -> Run:
    """Asked then, and answered with nothing at 2 min; a message that was done at 1 min 2 s is let
    go after the answer of 5 min.
    """
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, MINUTE + 2 * SECOND)
    run.contact("lyo-mbx1", "par-mbx1", 2 * MINUTE, asked_ms=asked_ms)
    run.contact("lyo-mbx1", "par-mbx1", 5 * MINUTE, notifications=1)
    run.let_go(message, 5 * MINUTE + 100)
    return run


def _let_go_as_of(at_ms: int, *, paused: bool = False) -> Run:
    """Let go as delivered then; it was at `DONE`."""
    run = _discarded_at(2 * MINUTE + 100)
    (row,) = run.rows("lyo-mbx1", "HADISCARD")
    row["custom"]["DeliveredAt"] = iso(at_ms)
    if paused:
        run.away("pause", "par-mbx1", DONE - 30 * SECOND, DONE - 10 * SECOND)
    return run


def _let_go_before_its_dsn() -> Run:
    """As if what was given up had been done before its sender was told."""
    run = _given_up(32 * MINUTE)
    (row,) = run.rows("lyo-mbx1", "HADISCARD")
    row["custom"]["DeliveredAt"] = iso(31 * MINUTE - NEAR - 1)
    return run


def _told_and_slow(let_go_ms: int, contact_again_ms: int) -> Run:
    """Told at 2 min, one heartbeat after delivery, it lets go later: its disk is slow, say."""
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, MINUTE + 2 * SECOND)
    run.heartbeats("lyo-mbx1", "par-mbx1", 2 * MINUTE, 3 * MINUTE)
    run.heartbeats("lyo-mbx1", "par-mbx1", contact_again_ms, 30 * MINUTE)
    run.let_go(message, let_go_ms)
    return run


def _told_page_by_page(*, page: int) -> Run:
    """At 2 min par-mbx1 tells of another message, and at 4 min of this one."""
    run = empty()
    for settings in run.plan["settings"]["servers"].values():
        settings["TransportService"] |= {"DiscardNotificationsPerAnswer": page}
    other, message = run.accept(MINUTE, [user(1)]), run.accept(MINUTE, [user(1)])
    run.finish(other, MINUTE + SECOND)
    run.finish(message, MINUTE + 2 * SECOND)
    run.contact("lyo-mbx1", "par-mbx1", 2 * MINUTE, notifications=1)
    run.let_go(other, 2 * MINUTE + 100)
    run.contact("lyo-mbx1", "par-mbx1", 4 * MINUTE, notifications=1)
    run.let_go(message, SLOW)
    run.heartbeats("lyo-mbx1", "par-mbx1", 8 * MINUTE, 30 * MINUTE)
    return run


def _stuck() -> Run:
    """The question that lyo-mbx1 begins at 50 s, while the link is cut, hangs until its time-out;
    the message is done at 1 min 2 s, and let go after the next question, which waited for that.
    """
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, MINUTE + 2 * SECOND)
    run.cut("lyo-mbx1", "par-mbx1", 45 * SECOND, 55 * SECOND, fault="f2")
    run.contact("lyo-mbx1", "par-mbx1", 10 * MINUTE + 50 * SECOND, failed=True, asked_ms=50_000)
    run.heartbeats("lyo-mbx1", "par-mbx1", 12 * MINUTE, 30 * MINUTE)
    run.let_go(message, 12 * MINUTE + 100)
    return run


def _dropped_after(interval_ms: int) -> Run:
    """par-mbx1 is away until 8 min; at 10 min 2 s it drops the notification, if it does."""
    run = empty()
    run.plan["settings"]["TransportConfig"]["ShadowMessageAutoDiscardInterval"] = interval_ms
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, MINUTE + 2 * SECOND)
    run.away("pause", "par-mbx1", MINUTE + 30 * SECOND, 8 * MINUTE)
    run.heartbeats("lyo-mbx1", "par-mbx1", 10 * MINUTE + 1, 40 * MINUTE)
    return run


def _kept_until(age_ms: int) -> Run:
    """par-mbx1 is away until 8 min; at that age the shadow message at lyo-mbx1 is dropped."""
    run = empty()
    run.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = MINUTE
    run.plan["settings"]["servers"]["lyo-mbx1"]["TransportService"] |= {
        "MessageExpirationTimeout": age_ms - MINUTE
    }
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, MINUTE + 2 * SECOND)
    run.away("pause", "par-mbx1", MINUTE + 30 * SECOND, 8 * MINUTE)
    run.heartbeats("lyo-mbx1", "par-mbx1", 10 * MINUTE + 1, 40 * MINUTE)
    return run


def _forgets_on_restart() -> Run:
    """Asked again after the restart, par-mbx1 does not tell what it had delivered before."""
    faulty = back_in_time()
    run = faulty.run
    run.remove("lyo-mbx1", "HADISCARD", faulty.delivered)
    run.queues["lyo-mbx1"] = [
        row for row in run.queues["lyo-mbx1"] if row["message_id"] != faulty.delivered.message_id
    ]
    return run


def _cut_meanwhile() -> Run:
    """lyo-mbx1 cannot ask until 40 min, and lets go at the next heartbeat."""
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.cut("lyo-mbx1", "par-mbx1", MINUTE, 40 * MINUTE)
    run.finish(message, MINUTE + 2 * SECOND)
    run.heartbeats("lyo-mbx1", "par-mbx1", 2 * MINUTE, 40 * MINUTE, failed=True)
    run.heartbeats("lyo-mbx1", "par-mbx1", 41 * MINUTE, 50 * MINUTE)
    run.let_go(message, 42 * MINUTE + 100)
    return run


def _row_swallowed() -> Run:
    """lyo-mbx1 let it go and was killed before it could log that; its store shows it."""
    run = _discarded_at(2 * MINUTE + 100)
    run.remove("lyo-mbx1", "HADISCARD")
    return run


def _served_again(*, after_a_restart: bool) -> Run:
    """par-mbx1 is killed before it has kept that it delivered, and delivers again at 10 min; it is
    asked at 6 and 8 min.
    """
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, MINUTE + 2 * SECOND)
    if after_a_restart:
        run.kill("par-mbx1", MINUTE + 3 * SECOND, 2 * MINUTE)
        run.log("par-mbx1", "LOAD", "BOOTLOADER", 2 * MINUTE + 2 * SECOND, message,
                source_context="delivery")  # fmt: skip
    run.log("par-mbx1", "SEND", "SMTP", 10 * MINUTE, message, custom={"Fork": "database:DB1"})
    run.heartbeats("lyo-mbx1", "par-mbx1", 6 * MINUTE, 30 * MINUTE)
    run.let_go(message, 12 * MINUTE + 100)
    return run


def _coarse() -> Run:
    run = healthy()
    run.host = {"clock_resolution_ms": HEARTBEAT / 2}
    return run


def runs() -> dict[str, Run]:
    return {
        "told-just-before": _let_go_as_of(DONE - NEAR),
        "told-just-after": _let_go_as_of(DONE + NEAR),
        "told-of-a-pause": _let_go_as_of(DONE - NEAR - 1, paused=True),
        "told-too-early": _let_go_as_of(DONE - NEAR - 1),
        "told-too-late": _let_go_as_of(DONE + NEAR + 1),
        "told-of-the-fork-alone": _let_go_before_its_dsn(),
        "healthy": healthy(),
        "empty": empty(),
        "first": _let_go_first(),
        "never-done": _let_go_never_done(),
        "before-the-dsn": _given_up(30 * MINUTE + 30 * SECOND),
        "after-the-dsn": _given_up(32 * MINUTE + 100),
        "one-of-two": _given_up(30 * MINUTE + 30 * SECOND, accepted_twice=True),
        "asked-and-not-told": _discarded_at(20 * MINUTE),
        "never": _discarded_at(None),
        "made-again": _made_again(after_a_restart=True),
        "made-twice": _made_again(after_a_restart=False),
        "disk-full": _forgotten_on_a_full_disk(),
        "disk-full-elsewhere": _forgotten_on_a_full_disk(full="lyo-mbx1"),
        "written-later": _done_on_a_full_disk(WRITTEN + SECOND // 2),
        "written-too-late": _done_on_a_full_disk(WRITTEN + 90 * SECOND),
        "done-before-the-restart": _forgotten_on_a_full_disk(done_ms=6 * MINUTE),
        "never-asked": _discarded_at(None, contacts_until=0),
        "silent": _discarded_at(11 * MINUTE, contacts_until=0),
        "stuck": _stuck(),
        "answered-late": _answered_late(asked_ms=MINUTE),
        "asked-later-and-not-told": _answered_late(asked_ms=MINUTE + 40 * SECOND),
        "slow-exchange": _discarded_at(3 * MINUTE + 30 * SECOND, contacts_until=0),
        "slow-disk": _told_and_slow(SLOW, 8 * MINUTE),
        "told-the-second-time": _told_and_slow(SLOW, 4 * MINUTE),
        "on-the-next-page": _told_page_by_page(page=1),
        "there-was-room": _told_page_by_page(page=2),
        "dropped": _dropped_after(9 * MINUTE),
        "not-dropped": _dropped_after(40 * MINUTE),
        "expires-first": _kept_until(9 * MINUTE),
        "expires-later": _kept_until(30 * MINUTE),
        "too-slow": _told_and_slow(20 * MINUTE, 22 * MINUTE),
        "survives": back_in_time().run,
        "forgets": _forgets_on_restart(),
        "promoted": new_database().run,
        "cut": _cut_meanwhile(),
        "swallowed": _row_swallowed(),
        "coarse": _coarse(),
        "served-again": _served_again(after_a_restart=True),
        "served-twice": _served_again(after_a_restart=False),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_shadows_go_at_the_heartbeat_after_delivery(
    results: Results,
) -> None:
    assert (results["healthy"].status, results["healthy"].asked) == ("holds", 15)


def test_a_server_that_forgot_a_delivery_by_a_restart_tells_of_it_after_the_next(
    results: Results,
) -> None:
    assert results["served-again"].violations == 0
    assert "after delivery at 0:01:02" in results["served-twice"].examples[0].detail


def test_is_violated_by_a_discard_before_the_last_fork(results: Results) -> None:
    result = results["first"]
    assert (result.status, result.violations) == ("violated", 1)
    assert "before the last fork was done" in result.examples[0].detail
    assert result.examples[0].refs[0][0] == "logs/lyo-mbx1/MSGTRK2026010508-1.LOG"


def test_is_violated_by_a_discard_before_the_dsn_is_delivered(
    results: Results,
) -> None:
    result = results["before-the-dsn"]
    assert result.violations == 1
    assert result.examples[0].detail == (
        "lyo-mbx1 let it go 30000 ms before the last fork was done"
    )
    assert results["after-the-dsn"].status == "holds"


def test_does_not_ask_which_of_two_copies_a_dsn_is_about(results: Results) -> None:
    assert results["one-of-two"].violations == 0


def test_is_violated_by_a_discard_of_what_was_never_done(results: Results) -> None:
    assert "did not log every recipient done" in results["never-done"].examples[0].detail


def test_is_violated_where_the_primary_was_asked_and_did_not_tell(
    results: Results,
) -> None:
    detail = results["asked-and-not-told"].examples[0].detail
    assert "lyo-mbx1 asked par-mbx1 at 0:02:00.000" in detail


def test_asks_nothing_of_an_orphan_that_its_primary_forgot_and_made_again(
    results: Results,
) -> None:
    assert results["made-again"].status == "holds"
    assert results["made-twice"].violations == 1


def test_asks_nothing_of_an_orphan_that_a_full_disk_did_not_keep(results: Results) -> None:
    assert results["disk-full"].violations == 0
    for name in ("disk-full-elsewhere", "done-before-the-restart"):
        assert "never let it go" in results[name].examples[0].detail, name


@pytest.mark.parametrize("run", ["never", "never-asked", "forgets"])
def test_is_violated_by_a_shadow_that_is_never_let_go(results: Results, run: str) -> None:
    assert results[run].violations == 1
    assert "never let it go" in results[run].examples[0].detail


def test_waits_for_the_restart_of_the_primary(results: Results) -> None:
    assert results["survives"].status == "holds"
    assert results["survives"].proofs["SM-5"] == "holds"
    assert results["forgets"].proofs["SM-5"] == "violated"


def test_waits_until_both_can_be_reached(results: Results) -> None:
    assert results["cut"].status == "holds"
    assert results["cut"].proofs["SM-16"] == "holds"


def test_does_not_ask_for_shadows_that_were_promoted(results: Results) -> None:
    assert results["promoted"].status == "holds"


def test_takes_the_store_as_evidence_for_a_row_that_a_kill_swallowed(
    results: Results,
) -> None:
    assert results["swallowed"].status == "holds"


def test_allows_an_exchange_to_take_its_time(results: Results) -> None:
    assert results["slow-exchange"].status == "holds"


def test_is_violated_by_a_server_that_asks_nothing_for_several_heartbeats(
    results: Results,
) -> None:
    [example] = results["silent"].examples
    assert example.detail == "lyo-mbx1 let it go at 0:11:00.000, due 0:03:02.000"


def test_a_question_that_an_outage_swallowed_keeps_no_other_waiting(results: Results) -> None:
    [example] = results["stuck"].examples
    assert example.detail == "lyo-mbx1 let it go at 0:12:00.100, due 0:03:02.000"


def test_a_late_answer_is_as_old_as_its_question(results: Results) -> None:
    assert "due 0:03:02.000" in results["answered-late"].examples[0].detail
    assert "and let it go only at" in results["asked-later-and-not-told"].examples[0].detail


def test_the_last_question_before_it_goes_brought_it(results: Results) -> None:
    assert "due" in results["slow-disk"].examples[0].detail
    assert "and let it go only at" in results["told-the-second-time"].examples[0].detail
    assert "due" in results["too-slow"].examples[0].detail


def test_a_notification_may_be_dropped_before_it_has_to_be_asked_for(
    results: Results,
) -> None:
    assert results["dropped"].violations == 0
    assert results["not-dropped"].status == "violated"


def test_a_shadow_message_may_expire_before_it_has_to_be_let_go(
    results: Results,
) -> None:
    assert results["expires-first"].violations == 0
    assert "never let it go" in results["expires-later"].examples[0].detail


def test_what_a_full_disk_did_not_take_is_written_a_minute_after_it_has_room(
    results: Results,
) -> None:
    assert results["written-later"].violations == 0
    assert results["written-too-late"].violations == 1


def test_an_answer_that_was_full_may_leave_the_rest_to_the_next(
    results: Results,
) -> None:
    assert "due 0:03:02.000" in results["on-the-next-page"].examples[0].detail
    assert "and let it go only at" in results["there-was-room"].examples[0].detail


@pytest.mark.parametrize("run", ["told-just-before", "told-just-after", "told-of-a-pause"])
def test_the_time_that_it_was_let_go_with_is_that_of_the_last_fork(
    run: str, results: Results
) -> None:
    assert results[run].status == "holds", results[run].examples


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("told-too-early", "0:00:01.099"),
        ("told-too-late", "0:02:02.901"),
        ("told-of-the-fork-alone", "0:29:59.099"),
    ],
)
def test_is_violated_by_another_time_than_that_of_the_last_fork(
    run: str, told: str, results: Results
) -> None:
    (example,) = results[run].examples
    done = "0:31:00.000" if "alone" in run else "0:01:02.000"
    assert example.detail == (
        f"lyo-mbx1 let it go as delivered at {told}; by the log of par-mbx1 its last fork was done "
        f"at {done}"
    )
    assert results[run].proofs["SN-2"] == "violated"


def test_does_not_judge_deadlines_on_a_coarse_clock(results: Results) -> None:
    result = results["coarse"]
    assert (result.status, result.violations) == ("unknown", 0)
    assert "clock resolution" in result.reason


def test_is_unknown_where_no_shadow_was_held(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)
