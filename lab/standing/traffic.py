"""Mail that goes on: the workload of the scenario again and again, period after period, each with
draws of its own; and messages that are sent by hand.

They are numbered through, so that each has a Message-Id of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Protocol

from lab.plan.parts import Message
from lab.plan.plan import Plan
from lab.planning.messages import message_id, resolve_messages
from lab.planning.seeds import seed_for
from lab.scenario.scenario import MailModel, ScenarioModel
from lab.workload.agent import Hushed

AT_ONCE = 200
"""Messages of one request to the workload."""


class Sender(Protocol):
    """Who sends them. Raises AgentError."""

    def add(self, messages: Sequence[Mapping[str, object]]) -> None: ...

    def hush(self) -> Hushed: ...


class Traffic:
    """`messages` are all that were planned, the first period's among them; `planned_ms` is the lab
    time until which there are some.
    """

    def __init__(self, scenario: ScenarioModel, plan: Plan) -> None:
        self._scenario, self._plan = scenario, plan
        self._period_ms = plan.workload_end_ms
        self._periods = 1
        self.messages = list(plan.messages)

    @property
    def planned_ms(self) -> int:
        return self._periods * self._period_ms

    def go_on(self, until_ms: float, sender: Sender) -> None:
        """See that there is mail until then."""
        while self.planned_ms < until_ms:
            more = self._next_period()
            self._periods += 1
            self._send(more, sender)

    def send(self, stream: MailModel, sender: Sender) -> list[Message]:
        """The messages of that stream beside the others."""
        sent = self._numbered([stream], seed_for(self._plan.seed, "by hand", len(self.messages)))
        self._send(sent, sender)
        return sent

    def hush(self, sender: Sender) -> tuple[int, tuple[Message, ...]]:
        """Nothing more begins. When that was, and the messages that had begun, in their order."""
        hushed = sender.hush()
        begun = (
            each
            for each in self.messages
            if each.at_ms <= hushed.at_ms and each.message_id not in hushed.not_begun
        )
        return hushed.at_ms, tuple(sorted(begun, key=lambda each: each.at_ms))

    def _next_period(self) -> list[Message]:
        streams = [
            each.model_copy(update={"at": each.at + self.planned_ms})
            for each in self._scenario.workload
        ]
        return self._numbered(streams, seed_for(self._plan.seed, "period", self._periods))

    def _numbered(self, streams: list[MailModel], seed: int) -> list[Message]:
        plan, first = self._plan, len(self.messages) + 1
        drawn = resolve_messages(plan.scenario, streams, plan.topology, seed)
        return [
            replace(each, message_id=message_id(number, plan.scenario, plan.seed, each.sender))
            for number, each in enumerate(drawn, start=first)
        ]

    def _send(self, messages: Sequence[Message], sender: Sender) -> None:
        """They count as planned before the first is on its way."""
        self.messages += messages
        for first in range(0, len(messages), AT_ONCE):
            sender.add([_row(each) for each in messages[first : first + AT_ONCE]])


def _row(message: Message) -> dict[str, Any]:
    return asdict(message)
