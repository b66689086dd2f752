"""Mail that goes on: period after period, every message with an id of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lab.standing.hand_scenario import HandScenario
from lab.standing.traffic import AT_ONCE, Traffic
from lab.workload.agent import Hushed
from tests.lab.scenario.sample_scenario import checked

MINUTE = 60_000
PERIOD = 21 * MINUTE


@dataclass
class Sender:
    """Remembers what it was given."""

    added: list[Mapping[str, Any]] = field(default_factory=list)
    at_once: list[int] = field(default_factory=list)
    hushed: Hushed = field(default_factory=lambda: Hushed(0, frozenset()))

    def add(self, messages: Sequence[Mapping[str, object]]) -> None:
        self.added += messages
        self.at_once.append(len(messages))

    def hush(self) -> Hushed:
        return self.hushed


@pytest.fixture
def hand(tmp_path: Path) -> HandScenario:
    [sound] = checked(tmp_path).scenarios
    return HandScenario(sound, 7)


@pytest.fixture
def traffic(hand: HandScenario) -> Traffic:
    return Traffic(hand.checked.scenario, hand.plan)


def test_the_first_period_is_the_plans(traffic: Traffic, hand: HandScenario) -> None:
    sender = Sender()
    traffic.go_on(20 * MINUTE, sender)
    assert sender.added == []
    assert traffic.messages == list(hand.plan.messages)


def test_more_comes_in_time_as_much_as_before_and_other_mail(traffic: Traffic) -> None:
    sender, first = Sender(), list(traffic.messages)
    traffic.go_on(PERIOD + MINUTE, sender)
    assert len(sender.added) == len(first)
    assert {each["at_ms"] // PERIOD for each in sender.added} == {1}
    moments = [each.at_ms for each in first]
    assert [each["at_ms"] - PERIOD for each in sender.added] != moments
    traffic.go_on(PERIOD + 2 * MINUTE, sender)
    assert len(sender.added) == len(first)
    traffic.go_on(3 * PERIOD + MINUTE, sender)
    assert {each["at_ms"] // PERIOD for each in sender.added} == {1, 2, 3}
    ids = [each.message_id for each in traffic.messages]
    assert len(set(ids)) == len(ids) == 4 * len(first)
    assert max(sender.at_once) <= AT_ONCE < len(first)


def test_what_is_sent_by_hand_comes_beside(traffic: Traffic, hand: HandScenario) -> None:
    sender = Sender()
    sent = traffic.send(hand.mail("to: {database: DB1}", 3, 5 * MINUTE), sender)
    assert [each["message_id"] for each in sender.added] == [each.message_id for each in sent]
    assert {each.at_ms // 1000 for each in sent} == {300}
    again = traffic.send(hand.mail("to: {database: DB1}", 3, 6 * MINUTE), sender)
    assert not {each.message_id for each in sent} & {each.message_id for each in again}


def test_what_had_begun_when_it_was_hushed_is_what_was_sent(traffic: Traffic) -> None:
    late, early = traffic.messages[20], traffic.messages[5]
    hushed = Hushed(late.at_ms, frozenset([early.message_id]))
    at_ms, begun = traffic.hush(Sender(hushed=hushed))
    assert at_ms == late.at_ms
    assert begun == tuple(each for each in traffic.messages[:21] if each != early)
