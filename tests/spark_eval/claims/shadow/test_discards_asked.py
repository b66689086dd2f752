"""That discards_asked asks of sessions for logs and Safety Nets, too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.shadow.discards_asked import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import back_in_time
from tests.spark_eval.runs.run_builder import (
    MINUTE,
    SECOND,
    Message,
    Row,
    Run,
    empty,
    healthy,
    user,
)

SERVER, PRIMARY = "lyo-mbx1", "par-mbx1"


def _session(
    purpose: str, asks_after_ms: int | None = None, *, messages: str = "3", held: bool = True
) -> Run:
    """Opened while a shadow message is held."""
    run = empty()
    if held:
        message = run.accept(MINUTE, [user(1)])
        message.done_ms = 30 * MINUTE
        run.let_go(message, 40 * MINUTE)
    run.session(SERVER, PRIMARY, 20 * MINUTE, asks_after_ms=asks_after_ms)
    for row in run.contacts[SERVER]:
        said = row["description"].replace("delivery", purpose)
        row["description"] = said.replace("Messages: 3", f"Messages: {messages}")
    return run


def _replication_cut() -> Run:
    """Its question took long, and a fault was in the way of logs alone."""
    run = _session("replication", 3 * MINUTE)
    run.cut(SERVER, PRIMARY, 20 * MINUTE, 22 * MINUTE)
    run.plan["faults"][-1]["links"][0]["service"] = "replication"
    return run


BROKEN = "0 (Retry : connection closed by the peer)"
ASKED = {
    "for-logs": _session("replication", SECOND),
    "for-a-safety-net": _session("safetynet", SECOND, messages="0"),
}
UNASKED = {
    "for-logs-unasked": _session("replication"),
    "for-no-log-unasked": _session("replication", messages="0"),
    "for-a-safety-net-unasked": _session("safetynet", messages="0"),
    "for-mail-unasked": _session("delivery"),
    "asked-late": _session("replication", 3 * MINUTE),
}
NOT_ASKED = {
    "broken": _session("replication", messages=BROKEN),
    "nothing-held": _session("replication", held=False),
    "given-up-unused": _session("delivery", messages="0"),
    "replication-cut": _replication_cut(),
}


def _with_session(at_ms: int, asks_after_ms: int | None, *, messages: int = 3) -> Run:
    """To the server of whose messages lyo-mbx1 holds one from 20:00 to 30:00."""
    run = healthy()
    message = run.accept(20 * MINUTE, [user(1)])
    run.finish(message, 29 * MINUTE)
    run.let_go(message, 30 * MINUTE)
    run.session("lyo-mbx1", "par-mbx1", at_ms, asks_after_ms=asks_after_ms, messages=messages)
    return run


def _expired_before_the_session() -> Run:
    """lyo-mbx1's copy is never let go, and is older than mail may become when a session begins."""
    run = empty()
    run.plan["settings"]["servers"]["lyo-mbx1"]["TransportService"] |= {
        "MessageExpirationTimeout": 10 * MINUTE
    }
    run.accept(MINUTE, [user(1)])
    run.session("lyo-mbx1", "par-mbx1", 12 * MINUTE, asks_after_ms=None)
    return run


def _promoted_before_the_session(*, loaded: bool) -> Run:
    """lyo-mbx1 was killed before it could log that; only the LOAD after it shows the promotion."""
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.kill("lyo-mbx1", 10 * MINUTE, 11 * MINUTE)
    if loaded:
        run.log("lyo-mbx1", "LOAD", "BOOTLOADER", 11 * MINUTE + SECOND, message,
                internal_id=run.next_id(), source_context="delivery")  # fmt: skip
    run.session("lyo-mbx1", "par-mbx1", 20 * MINUTE, asks_after_ms=None)
    return run


def _promoting_when_the_session_begins(
    *, begun_ms: int = 24 * MINUTE - 5, of: str = "par-mbx1", full: bool = True
) -> Run:
    """On a full disk it ends where it began."""
    run = _with_session(24 * MINUTE, None)
    if full:
        run.away("fill_disk", "lyo-mbx1", 22 * MINUTE, 26 * MINUTE)
    run.life("lyo-mbx1", "promotion-begun", begun_ms, primary=of, cause="database-id-changed",
             count=1)  # fmt: skip
    return run


def _letting_go_when_the_session_begins(
    *, told_ms: int = 24 * MINUTE - 5, of: str = "par-mbx1", full: bool = True, names: int = 1
) -> Run:
    """An answer has just named what is held."""
    run = _with_session(24 * MINUTE, None)
    if full:
        run.away("fill_disk", "lyo-mbx1", 22 * MINUTE, 26 * MINUTE)
    run.contact("lyo-mbx1", of, told_ms, notifications=names)
    return run


def _killed_when_it_is_told(*, names: int = 1, after_ms: int = 5) -> Run:
    """Before it logs that it lets the message go, and uses a session later on."""
    run = _with_session(24 * MINUTE, None)
    run.tracking["lyo-mbx1"].remove(run.rows("lyo-mbx1", "HADISCARD")[-1])
    run.contact("lyo-mbx1", "par-mbx1", 22 * MINUTE, notifications=names)
    run.kill("lyo-mbx1", 22 * MINUTE + after_ms - 200, 22 * MINUTE + 30 * SECOND)
    return run


def _asks_after_a_pause(*, of: str = "lyo-mbx1") -> Run:
    """Of some minutes, just after the session was opened."""
    run = _with_session(24 * MINUTE, 3 * MINUTE)
    run.away("pause", of, 24 * MINUTE + SECOND, 27 * MINUTE - 5 * SECOND)
    return run


def _told_of(notifications: int) -> Run:
    run = healthy()
    run.contact("lyo-mbx1", "par-mbx1", 8 * MINUTE, notifications=notifications)
    return run


def _told_of_a_probe(let_go_ms: int | None = None) -> Run:
    """Beside one of the traffic's; the lab sends probes, and nobody waits for them."""
    run = _told_of(2)
    known = run.accept(MINUTE, [user(1)])
    probe = replace(known, message_id="<probe.0001@outside.example>", internal_id=run.next_id())
    custom = run.key(probe)
    run.log("lyo-mbx1", "HARECEIVE", "SMTP", 2 * MINUTE, probe, internal_id=9, custom=custom)
    if let_go_ms is not None:
        run.log("lyo-mbx1", "HADISCARD", "REDUNDANCY", let_go_ms, probe, internal_id=9,
                custom=custom)  # fmt: skip
    run.finish(known, 2 * MINUTE)
    run.let_go(known, 4 * MINUTE)
    return run


def _told_of_a_probe_of_the_database_before() -> Run:
    """What lyo-mbx1 has of par-mbx1 it took with its new queue database."""
    run = empty()
    at_first = run.database_ids["par-mbx1"]
    probe = Message(
        "<probe.0001@outside.example>", "n-probe", [user(1)], MINUTE, "par-mbx1", "lyo-mbx1",
        run.next_id(), at_first,
    )  # fmt: skip
    custom = run.key(probe)
    for event, source, at_ms in (("HARECEIVE", "SMTP", 1), ("HADISCARD", "REDUNDANCY", 2)):
        run.log("lyo-mbx1", event, source, at_ms * MINUTE, probe, internal_id=9, custom=custom)
    run.kill("lyo-mbx1", 3 * MINUTE, 4 * MINUTE, new_database=True)
    known = run.accept(30 * MINUTE, [user(1)])
    run.finish(known, 31 * MINUTE)
    run.contact("lyo-mbx1", "par-mbx1", 32 * MINUTE, notifications=2)
    run.let_go(known, 32 * MINUTE + 100)
    return run


def _no_answer_logged(*, killed: bool) -> Run:
    """Two shadow messages were let go, the second just before a kill, and one answer is logged."""
    run = empty()
    run.contact("lyo-mbx1", "par-mbx1", 5 * MINUTE, notifications=1)
    for let_go_ms in (5 * MINUTE + 100, 6 * MINUTE):
        message = run.accept(4 * MINUTE, [user(1)])
        run.finish(message, 4 * MINUTE + 2 * SECOND)
        run.let_go(message, let_go_ms)
    if killed:
        run.kill("lyo-mbx1", 6 * MINUTE + 100, 7 * MINUTE)
    return run


def _without_connectivity_logs(*, made_by_the_lab: bool) -> Run:
    run = healthy()
    run.contacts, run.logs_answers = {}, False
    if made_by_the_lab:
        run.plan["messages"] = [{"message_id": row["message_id"]} for row in run.ledger[:1]]
    return run


def _unlogged() -> Run:
    run = back_in_time().run
    rows = run.lifecycle["lyo-mbx1"]
    run.lifecycle["lyo-mbx1"] = [row for row in rows if row.get("event_id") != 22004]
    return run


def _unlogged_and_unasked() -> Run:
    """No session stood, so no question was asked that could have failed."""
    run, sessions = _unlogged(), list[Row]()
    for row in run.contacts["lyo-mbx1"]:
        if not row["description"].startswith("XQDISCARD failed"):
            sessions.append(row)
            continue
        opened = row | {"session": f"out-{row['at_ms']}"}
        sessions.append(opened | {"direction": "+", "description": "heartbeat"})
        sessions.append(opened | {"description": "Messages: 0 (Retry : connection refused)"})
    run.contacts["lyo-mbx1"] = sessions
    return run


def runs() -> dict[str, Run]:
    return {
        **ASKED,
        **UNASKED,
        **NOT_ASKED,
        "one-answer-for-two": _no_answer_logged(killed=False),
        "one-answer-and-a-kill": _no_answer_logged(killed=True),
        "no-connectivity-log": _without_connectivity_logs(made_by_the_lab=True),
        "of-other-servers": _without_connectivity_logs(made_by_the_lab=False),
        "survives": back_in_time().run,
        "asks-first": _with_session(24 * MINUTE, 20),
        "uses-first": _with_session(24 * MINUTE, None),
        "asks-later": _with_session(24 * MINUTE, 2 * MINUTE),
        "promotes-just-then": _promoting_when_the_session_begins(),
        "promotes-with-room": _promoting_when_the_session_begins(full=False),
        "promotes-others": _promoting_when_the_session_begins(of="par-mbx2"),
        "promoted-long-ago": _promoting_when_the_session_begins(begun_ms=20 * MINUTE + SECOND),
        "lets-go-just-then": _letting_go_when_the_session_begins(),
        "lets-go-with-room": _letting_go_when_the_session_begins(full=False),
        "lets-go-of-others": _letting_go_when_the_session_begins(of="par-mbx2"),
        "lets-go-of-nothing": _letting_go_when_the_session_begins(names=0),
        "let-go-long-ago": _letting_go_when_the_session_begins(told_ms=20 * MINUTE + SECOND),
        "killed-when-told": _killed_when_it_is_told(),
        "killed-when-told-nothing": _killed_when_it_is_told(names=0),
        "killed-long-after": _killed_when_it_is_told(after_ms=30 * SECOND),
        "asks-after-a-pause": _asks_after_a_pause(),
        "asks-after-a-pause-of-others": _asks_after_a_pause(of="lyo-mbx2"),
        "uses-not-at-all": _with_session(24 * MINUTE, None, messages=0),
        "holds-nothing": _with_session(12 * MINUTE, None),
        "expired": _expired_before_the_session(),
        "promoted-by-then": _promoted_before_the_session(loaded=True),
        "not-promoted": _promoted_before_the_session(loaded=False),
        "told-of-its-own": _told_of(1),
        "told-of-others": _told_of(2),
        "told-of-a-probe": _told_of_a_probe(),
        "told-of-it-again": _told_of_a_probe(3 * MINUTE),
        "told-of-what-it-forgot": _told_of_a_probe_of_the_database_before(),
        "unlogged": _unlogged(),
        "unlogged-and-unasked": _unlogged_and_unasked(),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", ASKED)
def test_holds(name: str, results: Results) -> None:
    assert results[name].proofs.get("SM-2") == "holds", results[name].examples


@pytest.mark.parametrize("name", UNASKED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].proofs.get("SM-2") == "violated", results[name]
    assert results[name].examples[0].detail == (
        "lyo-mbx1 used 1 sessions to par-mbx1 without a question, while it held shadow messages "
        "of it"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_of_a_session_that_nobody_used(name: str, results: Results) -> None:
    assert "SM-2" not in results[name].proofs


def test_a_session_begins_with_a_question_while_shadow_messages_are_held(
    results: Results,
) -> None:
    [example] = results["uses-first"].examples
    assert example.subject == "lyo-mbx1 and par-mbx1"
    assert example.detail.startswith("lyo-mbx1 used 1 sessions to par-mbx1 without a question")
    assert example.refs[0][0] == "logs/lyo-mbx1/CONNECTLOG20260105-1.LOG"
    assert results["asks-later"].examples[0].detail == example.detail
    assert results["asks-after-a-pause-of-others"].examples[0].detail == example.detail
    for name in ("asks-first", "asks-after-a-pause", "uses-not-at-all", "holds-nothing", "expired"):
        assert results[name].violations == 0, name
    assert results["asks-first"].asked == results["uses-not-at-all"].asked + 1


def test_a_session_in_which_a_promotion_was_just_begun_need_not_ask(results: Results) -> None:
    assert results["promotes-just-then"].violations == 0
    for name in ("promotes-with-room", "promotes-others", "promoted-long-ago"):
        assert "without a question" in results[name].examples[0].detail, name


def test_a_session_in_which_what_is_held_is_being_let_go_need_not_ask(results: Results) -> None:
    assert results["lets-go-just-then"].violations == 0
    for name in ("lets-go-with-room", "lets-go-of-others", "lets-go-of-nothing", "let-go-long-ago"):
        assert "without a question" in results[name].examples[0].detail, name


def test_a_row_of_what_was_let_go_may_be_swallowed_by_a_kill(results: Results) -> None:
    assert "without a question" not in str(results["killed-when-told"].examples)
    for name in ("killed-when-told-nothing", "killed-long-after"):
        assert "without a question" in str(results[name].examples), name


def test_a_promotion_whose_row_a_kill_swallowed_ends_the_holding(
    results: Results,
) -> None:
    assert results["promoted-by-then"].violations == 0
    (example,) = results["not-promoted"].examples
    assert "used 1 sessions to par-mbx1 without a question" in example.detail


def test_an_answer_names_no_more_than_the_asking_server_can_still_be_told_of(
    results: Results,
) -> None:
    assert (results["told-of-its-own"].status, results["told-of-its-own"].asked) == ("holds", 2)
    [example] = results["told-of-others"].examples
    assert "told lyo-mbx1 of 2 messages at once, and 1 at most were its own" in example.detail
    assert results["told-of-a-probe"].status == "holds"
    assert results["told-of-it-again"].examples[0].detail == example.detail
    of_the_forgotten = [each.detail for each in results["told-of-what-it-forgot"].examples]
    assert not [detail for detail in of_the_forgotten if "messages at once" in detail]


def test_a_heartbeat_that_failed_is_an_event(results: Results) -> None:
    assert results["survives"].proofs["SM-18"] == "holds"
    said = "5 heartbeats of lyo-mbx1 to par-mbx1 failed, and 0 times event 22004 says so"
    for name in ("unlogged", "unlogged-and-unasked"):
        told = results[name]
        assert told.proofs["SM-18"] == "violated"
        assert said in [example.detail for example in told.examples]


def test_what_was_let_go_was_named_by_an_answer_in_the_log(
    results: Results,
) -> None:
    (example,) = results["one-answer-for-two"].examples
    assert example.detail == (
        "lyo-mbx1 let 2 shadow messages of par-mbx1 go, and by its connectivity log 1 discard "
        "notifications came"
    )
    assert results["one-answer-for-two"].proofs["TL-4"] == "violated"
    assert results["one-answer-and-a-kill"].proofs["TL-4"] == "holds"
    assert results["no-connectivity-log"].proofs["TL-4"] == "violated"
    assert "TL-4" not in results["of-other-servers"].proofs
