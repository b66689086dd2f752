"""A server outside that puts off every other user until it was tried for a while."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lab.hosts.simulator.smtp.external import ExternalSession
from lab.hosts.simulator.smtp.steps import Announced
from lab.scenario.quantities import Range
from lab.scenario.scenario import RecipientsModel
from lab.validation.validate import CheckedScenario
from nodes.core.interface.replies import Reply
from tests.lab.hosts.simulator.plans import scenario

TO_THREE = {"to": RecipientsModel(domain=["partner.example"]), "recipients": Range(3, 3)}
BUSY = (451, "4.7.1 greylisted")
FOR_MS = 8 * 60_000


def to_three_outside(name: str) -> CheckedScenario:
    """A scenario whose outbound mail goes to three users of the server outside."""
    checked = scenario(name)
    streams = [
        stream.model_copy(update=TO_THREE) if stream.mail == "outbound" else stream
        for stream in checked.scenario.workload
    ]
    return replace(checked, scenario=checked.scenario.model_copy(update={"workload": streams}))


def greylist(monkeypatch: pytest.MonkeyPatch) -> None:
    """Users with an even number are put off, each by itself, for `FOR_MS` of lab time a sender."""
    first_tried: dict[tuple[int, str, str], int] = {}

    def busy(server: Any, sender: str, recipient: str) -> bool:
        now_ms, key = server._world.now_ms(), (id(server), sender, recipient)
        is_even = recipient.partition("@")[0][-1] in "02468"
        return is_even and now_ms < first_tried.setdefault(key, now_ms) + FOR_MS

    def announce(self: Any, said: Any) -> None:
        sender, recipients = said.envelope.sender, said.envelope.recipients
        refused = tuple((r, *BUSY) for r in recipients if busy(self._server, sender, r))
        early = Reply(BUSY[0], (BUSY[1],)) if len(refused) == len(recipients) else None
        self.connection.say(Announced(early, refused), forward=False)

    monkeypatch.setattr(ExternalSession, "announce", announce)
