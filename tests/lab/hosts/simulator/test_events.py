"""A fault that begins at an event begins just before it, and what was before is as without it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from lab.campaigns.exhaust.strikes import KINDS, Strike, strikes_at, struck
from lab.hosts.simulator.events import Event, Events
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.topology import LinkName
from tests.lab.hosts.simulator.plans import plan

ONE_MESSAGE = plan("one-message-in", 1)


@cache
def events() -> tuple[Event, ...]:
    seen = Events()
    simulate(ONE_MESSAGE, keeps_inputs=False, events=seen)
    return tuple(seen.seen)


def first(kind: str, what: str, where: Callable[[str | LinkName], bool]) -> Strike:
    return next(
        each
        for each in strikes_at(ONE_MESSAGE, events())
        if each.kind == kind and each.event.what.startswith(what) and where(each.event.where)
    )


def run(strike: Strike) -> tuple[RecordInMemory, list[Event]]:
    changed, begin = struck(ONE_MESSAGE, [strike])
    seen = Events(begin)
    return simulate(changed, keeps_inputs=False, events=seen), seen.seen


def of_the_sender(where: str | LinkName) -> bool:
    return isinstance(where, LinkName) and where.source == "workload"


def outcomes(record: RecordInMemory) -> list[str]:
    return [line for line in record.file("ledger.jsonl") if '"outcome"' in line]


def test_who_listens_changes_nothing() -> None:
    alone = simulate(ONE_MESSAGE, keeps_inputs=False)
    heard = simulate(ONE_MESSAGE, keeps_inputs=False, events=Events())
    assert alone.files == heard.files


@pytest.mark.parametrize("kind", KINDS)
def test_everything_before_the_fault_is_as_without_it(kind: str) -> None:
    strikes = [each for each in strikes_at(ONE_MESSAGE, events()) if each.kind == kind]
    for strike in strikes:
        _, seen = run(strike)
        assert tuple(seen[: strike.number + 1]) == events()[: strike.number + 1]


def test_a_server_that_is_killed_before_an_input_does_nothing_with_it() -> None:
    strike = first("kill", "MessageOffered", lambda where: where == "par-mbx1")
    record, seen = run(strike)
    away = [
        each
        for each in seen[strike.number + 1 :]
        if each.where == "par-mbx1" and each.at_ms < strike.end_ms
    ]
    assert away == []
    assert not any('"ok"' in line for line in outcomes(record)[:1])
    assert any('"ok"' in line for line in outcomes(record)), "it is sent again"


def test_a_message_that_is_lost_reaches_nobody() -> None:
    strike = first("message-lost", "Content", of_the_sender)
    record, seen = run(strike)
    offered = [each.at_ms for each in seen if each.what.startswith("MessageOffered")]
    assert offered[0] > strike.end_ms
    assert '"ok"' not in outcomes(record)[0]


def test_a_reply_that_is_lost_leaves_its_sender_in_doubt() -> None:
    strike = first("reply-lost", "Final 250", of_the_sender)
    record, seen = run(strike)
    offered = [each.at_ms for each in seen if each.what.startswith("MessageOffered")]
    assert offered[0] < strike.event.at_ms, "the server has the message"
    assert '"ok"' not in outcomes(record)[0]


def test_a_fault_at_an_event_is_in_the_record_with_its_evidence() -> None:
    record, _ = run(first("disk-lost", "Committed", lambda where: where == "lyo-mbx1"))
    evidence = [line for line in record.file("faults.jsonl") if '"phase":"evidence"' in line]
    assert len(evidence) == 1
    assert '"took_effect":true' in evidence[0]
