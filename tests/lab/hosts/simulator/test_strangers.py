"""Strangers who call simulated servers: what each hears, and how its session ends."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.faults import Fault, Pause
from lab.plan.link_faults import Cut
from lab.plan.parts import Stranger, StrangerKind
from lab.plan.plan import Plan
from lab.plan.topology import LinkName
from tests.lab.hosts.simulator.plans import plan

MINUTE_MS = 60_000
TIMEOUT_MS = 10 * MINUTE_MS
NOT_ALLOWED = "550 5.7.1 Not authorized"
TIMED_OUT = "421 4.4.1 Connection timed out"


def called() -> Plan:
    return plan("strangers-call", 1)


@cache
def record() -> RecordInMemory:
    return simulate(called())


def heard(stranger: Stranger, found: RecordInMemory | None = None) -> list[dict[str, Any]]:
    lines = (found or record()).file("strangers.jsonl")
    return [row for row in map(json.loads, lines) if row["stranger"] == stranger.id]


def first_of(kind: StrangerKind) -> Stranger:
    return next(stranger for stranger in called().strangers if stranger.kind == kind)


def alone(kind: StrangerKind, *faults: Fault, duration_ms: int | None = None) -> list[Any]:
    """What one of that kind hears, of the replies and of the end, where it is the only one."""
    stranger, whole = first_of(kind), called()
    lasts_ms = duration_ms or whole.duration_ms
    few = replace(whole, strangers=(stranger,), messages=(), faults=faults, duration_ms=lasts_ms)
    return heard(stranger, simulate(few))


def test_who_shows_no_certificate_is_refused_every_verb_and_offered_none() -> None:
    stranger = first_of("no-certificate")
    banner, hello, *answers, end = heard(stranger)
    assert [banner["command"], hello["command"]] == ["banner", "EHLO"]
    assert hello["reply"] == "250"
    assert [row["command"] for row in answers] == list(stranger.commands)
    assert {row["reply"] for row in answers} == {NOT_ALLOWED}
    assert (end["outcome"], end["reply"]) == ("done", None)


def test_who_shows_a_foreign_certificate_does_not_get_through_the_handshake() -> None:
    banner, end = heard(first_of("foreign-certificate"))
    assert (banner["command"], end["outcome"]) == ("banner", "closed")


def test_who_shows_a_servers_certificate_is_that_server_and_no_other() -> None:
    _, hello, *answers, _ = heard(first_of("other-server"))
    assert hello["reply"].startswith("250 XSHADOWREQUEST ")
    assert {row["reply"] for row in answers} == {NOT_ALLOWED}


def test_who_trickles_is_cut_when_its_time_is_over() -> None:
    stranger = first_of("trickles")
    banner, _, data, end = heard(stranger)
    assert stranger.trickle is not None
    assert data["reply"] == "354"
    assert (end["outcome"], end["reply"]) == ("refused", TIMED_OUT)
    # its time began before the banner had come all the way
    assert -50 < end["at_ms"] - banner["at_ms"] - TIMEOUT_MS < 1_000
    assert end["sent_bytes"] == TIMEOUT_MS // stranger.trickle.every_ms


def test_who_has_bare_line_ends_is_refused_behind_the_dot() -> None:
    for stranger in called().strangers:
        if stranger.kind == "bare-line-ends":
            *_, data, dot, end = heard(stranger)
            assert [data["reply"], dot["command"]] == ["354", "."]
            assert dot["reply"].startswith("550 5.6.11 ")
            assert end["outcome"] == "done"


@cache
def limits() -> tuple[Plan, RecordInMemory]:
    whole = plan("limits", 1)
    alone = replace(whole, messages=(), faults=())
    return alone, simulate(alone)


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("too-large", ["354", "552"]),
        ("too-many-hops", ["354", "554"]),
        ("too-many-local-hops", ["354", "554"]),
        ("too-many-recipients", ["250"] * 7 + ["452"] * 2),
        ("unknown-recipients", ["250", "550", "550"]),
        ("no-commands", ["500"] * 4),
    ],
)
def test_what_exceeds_a_limit_is_refused(kind: StrangerKind, codes: list[str]) -> None:
    """As by a real server; MAIL is the first of those who say recipients."""
    asked, found = limits()
    callers = [each for each in asked.strangers if each.kind == kind]
    assert callers
    for caller in callers:
        _, _, *answers, end = heard(caller, found)
        assert [row["reply"][:3] for row in answers] == codes
        expected = ("refused", "421 4.7.0 ") if kind == "no-commands" else ("done", "")
        assert (end["outcome"], (end["reply"] or "")[:10]) == expected


def test_whoever_is_one_session_too_many_is_sent_away() -> None:
    asked, found = limits()
    tricklers = [each for each in asked.strangers if each.kind == "trickles"]
    last_words = [heard(each, found)[-1]["reply"] or "" for each in tricklers]
    assert any("has exceeded a per-source limit" in word for word in last_words)


def test_all_that_call_are_in_the_record_and_nothing_of_them_is_delivered() -> None:
    rows = [json.loads(line) for line in record().file("strangers.jsonl")]
    ended = [row["stranger"] for row in rows if row["type"] == "end"]
    assert sorted(ended) == sorted(stranger.id for stranger in called().strangers)
    boxes = [name for name in record().files if name.startswith("mailboxes/")]
    assert not any("trickler" in line for name in boxes for line in record().file(name))
    assert record().crashes == {}


def test_a_server_that_stands_still_answers_nothing() -> None:
    stranger = first_of("no-certificate")
    pause = Pause("f1", "pause", stranger.at_ms - MINUTE_MS, 50 * MINUTE_MS, stranger.server)
    [end] = alone("no-certificate", pause)
    assert (end["outcome"], end["reply"]) == ("timed-out", None)


def test_a_link_that_is_cut_ends_a_call() -> None:
    stranger = first_of("trickles")
    links = (LinkName("workload", stranger.server, "smtp"),)
    start_ms = stranger.at_ms + MINUTE_MS
    *_, end = alone("trickles", Cut("f1", "cut", start_ms, start_ms + 1, "refuse", links))
    assert end["outcome"] == "closed"
    assert end["at_ms"] - start_ms < 1_000


def test_whoever_still_calls_at_the_end_of_the_run_says_so() -> None:
    *_, end = alone("trickles", duration_ms=first_of("trickles").at_ms + 5 * MINUTE_MS)
    assert end["outcome"] == "stopped"


def test_who_has_trickled_for_long_enough_gives_up() -> None:
    stranger = first_of("trickles")
    links = (LinkName("workload", stranger.server, "smtp"),)
    silence = Cut("f1", "cut", stranger.at_ms + MINUTE_MS, 40 * MINUTE_MS, "stall", links)
    *_, end = alone("trickles", silence)
    assert stranger.trickle is not None
    assert end["outcome"] == "gave-up"
    assert end["at_ms"] - stranger.at_ms > stranger.trickle.for_ms


def test_a_run_without_strangers_has_no_file_of_them() -> None:
    assert "strangers.jsonl" not in simulate(plan("one-message-in", 1)).files


def test_the_same_plan_has_strangers_hear_the_same() -> None:
    assert simulate(called()).files == record().files
