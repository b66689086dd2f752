from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.shadow.held_long_enough import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    END,
    HEARTBEAT,
    HOUR,
    MINUTE,
    SECOND,
    Run,
    empty,
    healthy,
    mono,
    user,
)

# it expires after an hour, less the clock's resolution; its row is half a second late
LEAST = HOUR + 500 - 900
# a wall second: by then the row of a message that came is in the log
EXCHANGE = MINUTE
# what was made at 30 minutes and never asked for is dropped two heartbeats before the end
INTERVAL = END - 30 * MINUTE - 2 * HEARTBEAT


def _dropped(server: str) -> Run:
    run = healthy()
    del run.queues[server][1]
    return run


def _kept_too_long() -> Run:
    run = healthy()
    run.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = HOUR
    return run


def _shadow_vanished() -> Run:
    run = healthy()
    run.accept(20 * MINUTE, [user(1)])
    return run


def _waiting(queue: str, age_ms: int) -> Run:
    run = healthy()
    entry = run.queues["par-mbx1"][0]
    run.queues["par-mbx1"].append(
        {**entry, "queue": queue, "entered_ms": END - age_ms, "delivered_ms": END - age_ms}
    )
    return run


def _asked_for(*after_ms: int, answered_before: bool = False) -> Run:
    """An old notification, whose shadow server asked so long after it was made, and was answered;
    `answered_before`: the first time just before it was made, as its answer shows.
    """
    run = healthy()
    run.plan["settings"]["TransportConfig"]["ShadowMessageAutoDiscardInterval"] = INTERVAL
    entry = run.queues["par-mbx1"][0]
    made = {"entered_ms": 30 * MINUTE, "delivered_ms": 30 * MINUTE}
    waiting = {**entry, **made, "queue": "discard", "shadow_server": "par-mbx2"}
    run.queues["par-mbx1"].append(waiting)
    for each in after_ms:
        has_it = each > 0 and not (answered_before and each == after_ms[0])
        run.contact("par-mbx2", "par-mbx1", 30 * MINUTE + each, notifications=int(has_it))
    return run


def _asked_beside_a_fault() -> Run:
    """The shadow server could not take in what the first question told it."""
    run = _asked_for(MINUTE, 20 * MINUTE)
    run.cut("lyo-mbx2", "ext1", 10 * MINUTE, 45 * MINUTE)
    return run


def _asked_in_a_hole() -> Run:
    """Its shadow server died some minutes after the last question that its log has."""
    run = _asked_for(MINUTE)
    run.kill("par-mbx2", 36 * MINUTE, 37 * MINUTE)
    return run


def _broken(
    run: Run,
    given_up_ms: int,
    *,
    purpose: str = "heartbeat",
    stood: bool = True,
    messages: int = 0,
) -> Run:
    """A session of the shadow server that ended otherwise than in good order."""
    said = [(-SECOND, "+", purpose), (-SECOND + 10, ">", "Established connection")][: 1 + stood]
    end = (0, "-", f"Messages: {messages} (Retry : connection reset)")
    for at_ms, direction, text in (*said, end):
        when = given_up_ms + at_ms
        row = {
            "at_ms": when, "session": f"out-{given_up_ms}", "source": "SMTP",
            "destination": "par-mbx1", "direction": direction,
            "description": f"{text};Mono={mono(when)}",
        }  # fmt: skip
        run.contacts.setdefault("par-mbx2", []).append(row)
    return run


def _broken_for(
    purpose: str, *, stood: bool = True, messages: int = 0, after_ms: int = 5 * MINUTE
) -> Run:
    """So long after the notification was made; no row says that it asked."""
    given_up_ms = 30 * MINUTE + after_ms
    return _broken(_asked_for(), given_up_ms, purpose=purpose, stood=stood, messages=messages)


def _asked_in_vain(*, stood: bool = True, after_ms: int = 5 * MINUTE) -> Run:
    """A question that never got an answer, so long after the notification was made."""
    given_up_ms = 30 * MINUTE + after_ms
    run = _broken(_asked_for(), given_up_ms, stood=stood)
    run.contact("par-mbx2", "par-mbx1", given_up_ms, failed=True)
    return run


def _broke_before_it_asked() -> Run:
    """The session that stood is not the one that the question was for."""
    return _broken(_asked_in_vain(stood=False, after_ms=10 * MINUTE), 31 * MINUTE)


def _of_what_it_forgot() -> Run:
    """Its server has no row of the message by now, and lists the notification without a name."""
    run = _waiting("discard", 60 * HOUR)
    run.queues["par-mbx1"][-1] |= {"message_id": None, "network_message_id": None}
    return run


def _expired(after_ms: int, *, loaded: bool = False) -> Run:
    """It expires after an hour; `loaded`: a restart found it a minute before."""
    run = empty()
    run.plan["settings"]["servers"]["par-mbx1"]["TransportService"]["MessageExpirationTimeout"] = (
        HOUR
    )
    message = run.accept(MINUTE, [user(1)])
    if loaded:
        run.log("par-mbx1", "LOAD", "BOOTLOADER", after_ms, message, source_context="delivery")
    run.log("par-mbx1", "FAIL", "QUEUE", MINUTE + after_ms, message,
            recipient_status="550 4.4.7 QUEUE.Expired;<ErrorText>")  # fmt: skip
    return run


def _dsn_expired(after_ms: int) -> Run:
    """It was loaded after a restart a minute before."""
    run = _expired(HOUR + 1000)
    given_up = run.rows("par-mbx1", "FAIL")[-1]["at_ms"]
    message = run.accept(2 * MINUTE, [user(1)])
    report = replace(message, message_id="<dsn@lab>", internal_id=run.next_id())
    run.log("par-mbx1", "DSN", "DSN", given_up, report, reference=message.message_id)
    expired_ms = given_up + after_ms
    run.log(
        "par-mbx1", "LOAD", "BOOTLOADER", expired_ms - MINUTE, report, source_context="delivery"
    )
    run.log("par-mbx1", "FAIL", "QUEUE", expired_ms, report,
            recipient_status="550 4.4.7 QUEUE.Expired;<ErrorText>")  # fmt: skip
    return run


def _sent_on(after_ms: int, *, away: bool = False) -> Run:
    """It expires after an hour."""
    run = _expired(2 * HOUR)
    run.remove("par-mbx1", "FAIL")
    message = run.accept(2 * MINUTE, [user(1)])
    run.finish(message, 2 * MINUTE + after_ms)
    if away:
        run.kill("par-mbx1", HOUR, 2 * MINUTE + after_ms - 1000)
    return run


def _sent_when_redundant(after_ms: int) -> Run:
    """It came back from a Safety Net, was made redundant two hours later, and was sent on then. It
    expires after an hour.
    """
    run = _expired(2 * HOUR)
    run.remove("par-mbx1", "FAIL")
    message = run.accept(2 * MINUTE, [user(1)])
    received, made = run.rows("par-mbx1", "RECEIVE")[-1], run.rows("par-mbx1", "HAREDIRECT")[-1]
    received |= {"event-id": "RESUBMIT", "source": "SAFETYNET"}
    redundant_ms = 2 * MINUTE + 2 * HOUR
    made["at_ms"], made["custom"]["Mono"] = redundant_ms, mono(redundant_ms)
    run.finish(message, redundant_ms + after_ms)
    return run


def _not_collected() -> Run:
    run = healthy()
    run.drop.add("logs/par-mbx1/queues.jsonl")
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": healthy(),
        "empty": empty(),
        "primary-dropped": _dropped("par-mbx1"),
        "shadow-dropped": _dropped("lyo-mbx1"),
        "too-long": _kept_too_long(),
        "vanished": _shadow_vanished(),
        "old-delivery": _waiting("delivery", 60 * HOUR),
        "old-notification": _waiting("discard", 60 * HOUR),
        "young-notification": _waiting("discard", HOUR),
        "asked-for": _asked_for(5 * MINUTE),
        "asked-for-never-again": _asked_for(MINUTE),
        "asked-in-a-hole": _asked_in_a_hole(),
        "asked-before": _asked_for(-MINUTE),
        "asked-twice": _asked_for(MINUTE, 20 * MINUTE),
        "answered-before": _asked_for(3, HEARTBEAT + 50, answered_before=True),
        "never-answered-with-it": _asked_for(3, HEARTBEAT + 50, 20 * MINUTE, answered_before=True),
        "answered-with-another": _asked_for(3, HEARTBEAT + 50),
        "asked-beside-a-fault": _asked_beside_a_fault(),
        "asked-in-vain": _asked_in_vain(),
        "asked-in-vain-before": _asked_in_vain(after_ms=-MINUTE),
        "never-reached": _asked_in_vain(stood=False),
        "broke-before-it-asked": _broke_before_it_asked(),
        "unheard": _broken_for("delivery"),
        "unheard-by-a-primary": _broken_for("shadowredundancy"),
        "unheard-before": _broken_for("delivery", after_ms=-10),
        "broke-in-a-message": _broken_for("delivery", messages=1),
        "never-stood": _broken_for("delivery", stood=False),
        "broke-with-a-log": _broken_for("replication"),
        "forgotten": _of_what_it_forgot(),
        "expired": _expired(HOUR + 1000),
        "expired-early": _expired(HOUR // 2),
        "expired-as-early-as-may-be": _expired(LEAST),
        "expired-a-little-early": _expired(LEAST - 1),
        "loaded-and-expired": _expired(LEAST - EXCHANGE, loaded=True),
        "loaded-and-expired-early": _expired(LEAST - EXCHANGE - 1, loaded=True),
        "dsn-loaded-and-expired": _dsn_expired(LEAST - 500 - EXCHANGE),
        "dsn-expired": _dsn_expired(HOUR + 1000),
        "dsn-expired-early": _dsn_expired(HOUR // 2),
        "sent-at-last": _sent_on(HOUR + MINUTE),
        "sent-too-late": _sent_on(HOUR + 20 * MINUTE),
        "sent-when-back": _sent_on(HOUR + 20 * MINUTE, away=True),
        "sent-when-redundant": _sent_when_redundant(SECOND),
        "sent-long-after": _sent_when_redundant(HOUR + 20 * MINUTE),
        "not-collected": _not_collected(),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_both_safety_nets_have_everything(results: Results) -> None:
    result = results["healthy"]
    assert (result.status, result.asked) == ("holds", 10)
    assert result.proofs == {"SN-1": "holds", "SN-2": "holds", "SN-13": "holds"}


@pytest.mark.parametrize(
    ("run", "net", "requirement"),
    [
        ("primary-dropped", "Primary Safety Net of par-mbx1", "SN-1"),
        ("shadow-dropped", "Shadow Safety Net of lyo-mbx1", "SN-2"),
    ],
)
def test_is_violated_by_a_copy_dropped_too_soon(
    results: Results, run: str, net: str, requirement: str
) -> None:
    result = results[run]
    assert (result.violations, result.proofs[requirement]) == (1, "violated")
    assert net in result.examples[0].detail
    assert result.examples[0].subject == "<m000002.calm.7@outside.example>"


def test_is_violated_by_copies_kept_too_long(results: Results) -> None:
    assert results["too-long"].violations == 10
    assert "should have dropped it" in results["too-long"].examples[0].detail


def test_is_violated_by_a_shadow_that_vanished(results: Results) -> None:
    assert "the shadow queue of lyo-mbx1 owed it" in results["vanished"].examples[0].detail


def test_bounds_waiting_in_delivery_queues_and_of_notifications(
    results: Results,
) -> None:
    assert results["old-delivery"].proofs["SM-12"] == "violated"
    assert results["old-notification"].proofs["SM-11"] == "violated"
    assert results["young-notification"].proofs["SM-11"] == "holds"


def test_a_notification_that_was_asked_for_waits_for_its_confirmation(
    results: Results,
) -> None:
    assert results["asked-for"].violations == 0
    assert results["asked-beside-a-fault"].violations == 0
    assert results["asked-before"].proofs["SM-11"] == "violated"
    assert results["asked-for-never-again"].proofs["SM-11"] == "violated"
    assert results["asked-in-a-hole"].violations == 0
    assert results["asked-twice"].proofs["SM-11"] == "violated"
    assert results["answered-before"].violations == 0
    assert results["answered-with-another"].violations == 0
    assert results["never-answered-with-it"].proofs["SM-11"] == "violated"


def test_a_question_without_an_answer_may_have_asked_for_it(results: Results) -> None:
    assert results["asked-in-vain"].violations == 0
    assert results["asked-in-vain-before"].proofs["SM-11"] == "violated"
    assert results["never-reached"].proofs["SM-11"] == "violated"
    assert results["broke-before-it-asked"].proofs["SM-11"] == "violated"


def test_a_session_for_messages_that_broke_before_the_first_may_have_asked_for_it(
    results: Results,
) -> None:
    assert results["unheard"].violations == 0
    assert results["unheard-by-a-primary"].violations == 0
    assert results["unheard-before"].proofs["SM-11"] == "violated"
    assert results["broke-in-a-message"].proofs["SM-11"] == "violated"
    assert results["never-stood"].proofs["SM-11"] == "violated"
    assert results["broke-with-a-log"].proofs["SM-11"] == "violated"


def test_names_the_server_of_a_notification_without_a_name(results: Results) -> None:
    (example, *_) = results["forgotten"].examples
    assert example.subject == "par-mbx1"
    assert example.detail.startswith("in the discard queue of par-mbx1 for 60:00:00.000")


def test_bounds_expiry_from_below(results: Results) -> None:
    assert results["expired"].proofs["SM-12"] == "holds"
    assert results["expired-early"].proofs["SM-12"] == "violated"
    assert results["dsn-expired"].proofs["SM-12"] == "holds"
    said = [example.detail for example in results["dsn-expired-early"].examples]
    assert "par-mbx1 expired it after 0:30:00.000, not before 1:00:00.000" in said


def test_a_restart_makes_a_message_as_old_as_its_disk_has_it(results: Results) -> None:
    assert results["expired-as-early-as-may-be"].proofs["SM-12"] == "holds"
    assert results["expired-a-little-early"].proofs["SM-12"] == "violated"
    assert results["loaded-and-expired"].proofs["SM-12"] == "holds"
    assert results["loaded-and-expired-early"].proofs["SM-12"] == "violated"
    assert results["dsn-loaded-and-expired"].proofs["SM-12"] == "holds"


def test_is_violated_by_what_is_sent_on_after_it_should_have_expired(
    results: Results,
) -> None:
    assert results["sent-at-last"].proofs["SM-12"] == "holds"
    said = [example.detail for example in results["sent-too-late"].examples]
    assert "par-mbx1 sent it on after 1:19:59.500; it expires after 1:00:00.000" in said
    assert "SM-12" not in results["sent-when-back"].proofs


def test_what_came_back_expires_from_when_it_is_redundant_anew(results: Results) -> None:
    assert results["sent-when-redundant"].proofs.get("SM-12") != "violated"
    said = [example.detail for example in results["sent-long-after"].examples]
    assert "par-mbx1 sent it on after 1:20:00.000; it expires after 1:00:00.000" in said


def test_is_unknown_without_a_listing(results: Results) -> None:
    result = results["not-collected"]
    assert (result.status, result.violations) == ("unknown", 0)
    assert "no sound queue listing of par-mbx1" in result.reason


def test_is_unknown_where_nothing_was_delivered(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)
